#include "report/html_page.h"

#include <fmt/format.h>

#include "report/html_text.h"

namespace isobit {
namespace {

// Contrast of every text on its ground is at least 4.5 in both themes; a test measures it.
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--paper:#f5f6f8;--card:#ffffff;--ink:#191e25;--soft:#4f5965;--line:#dce0e6;--shade:#0f172a14;
--accent:#0a58a8;--pass:#0b6838;--fail:#b3261e;--warn:#7c4f00;--pass-bg:#e2f4e9;--fail-bg:#fdeae8;--warn-bg:#fcf0d8;
--same:#cbe3d4;--drift:#d9951a;--flip:#b3261e;--gap:#8b95a1;--code:#eef1f5;--mark:#ffd9d3;
--heat-drift:#f9e5b8;--heat-some:#f7c9c2;--heat-most:#eda297;
--s0:#1f63c6;--s1:#b4530f;--s2:#1d7d4a;--s3:#96348f;--s4:#6f6010;--s5:#4a55c0}
@media (prefers-color-scheme:dark){:root{--paper:#0d1014;--card:#151a20;--ink:#e8ecf1;--soft:#a8b3bf;--line:#2a323c;--shade:#00000066;
--accent:#7dbbff;--pass:#5ccd92;--fail:#ff968a;--warn:#f0bf66;--pass-bg:#10291c;--fail-bg:#341613;--warn-bg:#2e230d;
--same:#23482f;--drift:#dba033;--flip:#ff7b6d;--gap:#6a7683;--code:#1e252d;--mark:#5a211a;
--heat-drift:#4a3a12;--heat-some:#5b2620;--heat-most:#7d3028;
--s0:#74aefc;--s1:#f0975a;--s2:#5fcb91;--s3:#dc86d5;--s4:#cdbb55;--s5:#a0a9ff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
overflow-wrap:anywhere}
main:focus{outline:none}
.page{max-width:1160px;margin:0 auto;padding:0 24px 64px}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible,button:focus-visible,[tabindex="0"]:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999px}
.skip:focus{left:12px;top:12px;background:var(--card);padding:8px 12px;z-index:1}
code,.mono{font:0.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--code);border-radius:5px;padding:1px 5px;-webkit-box-decoration-break:clone;box-decoration-break:clone}
small{display:inline-block;font-size:13px;line-height:1.4;color:var(--soft)}
.bar{display:flex;justify-content:space-between;align-items:baseline;gap:12px;padding:20px 2px 14px;color:var(--soft);font-size:14px}
.bar strong{color:var(--ink);font-size:17px;letter-spacing:.01em}
.verdict{border:1px solid var(--line);border-top:6px solid var(--gap);border-radius:16px;background:var(--card);padding:28px 32px;box-shadow:0 1px 2px var(--shade),0 12px 32px -20px var(--shade)}
.verdict.pass{border-top-color:var(--pass)}.verdict.fail{border-top-color:var(--fail)}.verdict.warn{border-top-color:var(--warn)}
.badge{display:inline-flex;align-items:center;gap:8px;margin:0 0 14px;padding:4px 14px;border-radius:99px;font-weight:700;font-size:14px;letter-spacing:.05em;background:var(--code)}
.pass .badge,.tag.pass{color:var(--pass);background:var(--pass-bg)}.fail .badge,.tag.fail{color:var(--fail);background:var(--fail-bg)}
.warn .badge,.tag.warn{color:var(--warn);background:var(--warn-bg)}
.badge svg{width:16px;height:16px}
h1{font-size:clamp(1.5rem,1.1rem + 1.9vw,2.3rem);line-height:1.18;margin:0 0 10px;font-weight:720;letter-spacing:-.015em;text-wrap:balance}
.lede{margin:0;color:var(--soft);font-size:1.08rem}
h2{font-size:1.35rem;line-height:1.3;margin:52px 0 4px;letter-spacing:-.01em;scroll-margin-top:16px}
h3{font-size:1rem;line-height:1.4;margin:0 0 4px}
h3.sub{margin:26px 0 10px}
.hint{margin:0 0 14px;color:var(--soft);max-width:72ch}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px;margin:14px 0 0;padding:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:16px 18px;min-width:0}
.card dt{color:var(--soft);font-size:14px;line-height:1.35}.card dd{margin:4px 0 0}
.card .big{font-size:1.6rem;font-weight:680;line-height:1.25;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
.card .small{color:var(--soft);font-size:13px;line-height:1.4;margin:4px 0 0}
.contents{display:flex;flex-wrap:wrap;gap:8px;margin:20px 0 0;padding:0;list-style:none;font-size:14px}
.contents a{display:block;padding:5px 13px;border:1px solid var(--line);border-radius:99px;background:var(--card);text-decoration:none}
.contents a:hover{border-color:var(--accent)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:14px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:18px 20px;min-width:0}
figure.wide,.plots figure:last-child:nth-child(odd){grid-column:1/-1}
figcaption{margin:0 0 14px}
figcaption p{margin:2px 0 0;color:var(--soft);font-size:14px;line-height:1.45}
svg{display:block;width:100%;height:auto;max-width:600px;margin:0 auto}
.label{fill:var(--soft);font-size:11.5px;font-family:inherit}
.grid{stroke:var(--line);stroke-width:1;fill:none}.axis,.tick{stroke:var(--gap);stroke-width:1;fill:none}
.line{fill:none;stroke:var(--accent);stroke-width:2;stroke-linejoin:round}.line.thin{stroke-width:1.25}.line.flip{stroke:var(--flip)}.line.drift{stroke:var(--drift)}.line.dash{stroke-dasharray:5 4}
.line.s0{stroke:var(--s0)}.line.s1{stroke:var(--s1);stroke-dasharray:7 3}.line.s2{stroke:var(--s2);stroke-dasharray:2 3}.line.s3{stroke:var(--s3);stroke-dasharray:9 3 2 3}.line.s4{stroke:var(--s4)}.line.s5{stroke:var(--s5);stroke-dasharray:4 4}
.band{fill:var(--accent);opacity:.13}
.m-same{fill:var(--same)}.m-drift{fill:var(--drift)}.m-flip{fill:var(--flip)}.m-gap{fill:none;stroke:var(--gap)}.m-bar{fill:var(--accent);opacity:.45}
.m-dot{fill:var(--accent)}.m-dot.flip{fill:var(--flip)}.m-dot.drift{fill:var(--drift)}
td svg{width:150px;max-width:100%;margin:4px 0 0}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:12px 0 0;padding:0;list-style:none;font-size:13px;color:var(--soft)}
.key li{display:flex;gap:7px;align-items:baseline;min-width:0}
.key svg{flex:none;width:14px;height:14px;margin:0;align-self:center}.key svg.stroke{width:24px}
table{width:100%;border-collapse:separate;border-spacing:0;background:var(--card);border:1px solid var(--line);border-radius:14px;font-variant-numeric:tabular-nums;font-size:15px}
figure table{border-radius:8px;font-size:14px;margin:8px 0 0}
th,td{padding:9px 14px;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;overflow-wrap:normal;color:var(--soft);font-weight:600;font-size:13.5px;line-height:1.35;vertical-align:bottom}
tbody th{font-weight:500;min-width:9rem}section>table.stack tbody th{min-width:14.5rem}
.n{text-align:right}.prose{overflow-wrap:break-word}.value{min-width:9.5rem}
.tag{display:inline-block;white-space:nowrap;padding:1px 10px;border-radius:99px;font-weight:650;font-size:13px;background:var(--code)}
.scroll{overflow-x:auto;border-radius:14px}
table.heat{width:auto;min-width:min(100%,420px)}table.heat td{text-align:center;border-left:1px solid var(--line)}table.heat td small{color:inherit}table.heat tbody th{min-width:0}
.h-same{background:var(--same)}.h-drift{background:var(--heat-drift)}.h-some{background:var(--heat-some)}.h-most{background:var(--heat-most)}
.m-heat-drift{fill:var(--heat-drift)}.m-heat-flip{fill:var(--heat-most)}
details{margin:12px 0 0}
summary{cursor:pointer;color:var(--accent);font-size:14px;padding:4px 0}
section>details>table{margin:8px 0 0}
.tail{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:18px 20px;margin:0 0 14px}
.tail h3{margin:0 0 4px;font-weight:500}.tail .in{color:var(--soft)}
.tail .hint{margin:0 0 10px}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:12px;margin:10px 0 12px}
.side{border:1px solid var(--line);border-radius:10px;padding:12px 14px;min-width:0}
.side p{margin:0}
.side .who{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 12px;color:var(--soft);font-size:13px;margin:0 0 6px}
.tokens{line-height:1.95}
.tokens code{margin:0 2px 0 0;padding:2px 3px;white-space:pre-wrap}
.tokens mark{color:inherit;background:none;padding:0}
.tokens mark code{background:var(--mark);outline:2px solid var(--flip);outline-offset:-1px;font-weight:700}
.tokens .after code{background:none;text-decoration:underline dotted;text-underline-offset:3px}
.before{margin:18px 0 4px;font-size:14px;color:var(--soft)}
.command{display:flex;gap:10px;align-items:center;background:var(--code);border-radius:10px;padding:8px 8px 8px 14px;margin:8px 0 0}
.command code{flex:1;background:none;padding:0;min-width:0}
.command .option{white-space:nowrap}
.before+.command{margin:0}
button{flex:none;font:inherit;font-size:13px;font-weight:600;color:var(--accent);background:var(--card);border:1px solid var(--line);border-radius:7px;padding:4px 12px;cursor:pointer}
button:hover{border-color:var(--accent)}
footer{margin-top:56px;border-top:1px solid var(--line);padding-top:16px;color:var(--soft);font-size:14px}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:18px 0 0;font-size:15px}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;min-width:0}
dl.facts.wide{gap:10px 24px;max-width:86ch}dl.facts.wide dt{color:var(--ink);font-weight:600}
@media (max-width:1000px){table.stack,table.stack tbody,table.stack tr,table.stack td,table.stack tbody th{display:block;width:100%}
table.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.stack tr{border-top:1px solid var(--line);padding:10px 0}table.stack tbody tr:first-child{border-top:0}
table.stack th,table.stack td{border:0;padding:2px 14px;text-align:left}
table.stack tbody th{padding-bottom:6px;min-width:0!important}
table.stack td{display:grid;grid-template-columns:minmax(6.5em,38%) 1fr;gap:10px}
table.stack td::before{content:attr(data-label);color:var(--soft);font-size:14px}
table.stack td>span{min-width:0}}
@media (max-width:760px){.page{padding:0 14px 48px}.verdict{padding:22px 18px}.bar{padding:14px 2px 10px}
h2{margin-top:40px}figure,.tail{padding:16px 14px}.label{font-size:14.5px}
.cards{grid-template-columns:1fr 1fr;gap:10px}.card{padding:12px 14px}.card .big{font-size:1.3rem}
dl.facts{grid-template-columns:1fr;gap:0}dl.facts.wide{gap:0}dl.facts dd{margin:0 0 8px}}
@media print{:root{color-scheme:light;--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--shade:transparent;--accent:#0a4a8a;--pass:#0b5c32;--fail:#a3201a;--warn:#6b4400;
--pass-bg:#eef7f1;--fail-bg:#fdf0ee;--warn-bg:#fcf5e6;--same:#cbe3d4;--drift:#d9951a;--flip:#b3261e;--gap:#777;--code:#f3f3f3;--mark:#ffd9d3;
--heat-drift:#f9e5b8;--heat-some:#f7c9c2;--heat-most:#eda297;--s0:#1f63c6;--s1:#b4530f;--s2:#1d7d4a;--s3:#96348f;--s4:#6f6010;--s5:#4a55c0}
body{font-size:10.5pt}table{font-size:8.5pt!important}th,td{padding-left:2px!important;padding-right:2px!important}.page{max-width:none;padding:0}.verdict{box-shadow:none}
button,.skip,nav{display:none}figure,.tail,.verdict,.card,tr{break-inside:avoid}h2,h3{break-after:avoid}
details::details-content{display:block;content-visibility:visible;block-size:auto}summary{list-style:none;color:var(--soft)}.scroll{overflow:visible}}
)css";

constexpr std::string_view kScript = R"js(
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.previousElementSibling.textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
    catch { const range = document.createRange(); range.selectNodeContents(button.previousElementSibling);
      getSelection().removeAllRanges(); getSelection().addRange(range); button.textContent = "Selected"; }
  });
}
)js";

}  // namespace

std::string_view report_style() {
  return kStyle;
}

std::string_view report_script() {
  return kScript;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; "
      "script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}\n<script>{}</script>\n</body>\n"
      "</html>\n",
      csp_hash(kStyle), csp_hash(kScript), html_text(title), kStyle, body, kScript);
}

}  // namespace isobit
