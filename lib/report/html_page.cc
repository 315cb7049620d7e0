#include "report/html_page.h"

#include <fmt/format.h>

#include "report/html_text.h"

namespace isobit {
namespace {

// Contrast of every text on its ground is at least 4.5 in both themes; a test measures it.
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--paper:#f6f7f9;--card:#ffffff;--ink:#1a1f26;--soft:#525c68;--line:#d8dde4;
--accent:#0a58a8;--pass:#0b6e3a;--fail:#b3261e;--warn:#835400;--pass-bg:#e3f4ea;--fail-bg:#fdecea;--warn-bg:#fdf2dc;
--same:#cfe3d6;--drift:#e0a52e;--flip:#b3261e;--gap:#9aa4b0;--code:#eef1f5;--mark:#ffe2dd}
@media (prefers-color-scheme:dark){:root{--paper:#0e1115;--card:#161b21;--ink:#e9edf2;--soft:#a9b4c0;--line:#2c343e;
--accent:#7dbbff;--pass:#58c98f;--fail:#ff9488;--warn:#f1be62;--pass-bg:#10291c;--fail-bg:#331512;--warn-bg:#2f230c;
--same:#244634;--drift:#d39a2c;--flip:#ff7d6f;--gap:#5c6773;--code:#1f262e;--mark:#4a1f1a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
overflow-wrap:anywhere}
.page{max-width:1120px;margin:0 auto;padding:0 20px 64px}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible,button:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999px}
.skip:focus{left:12px;top:12px;background:var(--card);padding:8px 12px;z-index:1}
code,kbd,.mono{font:0.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--code);border-radius:4px;padding:1px 5px}
.bar{display:flex;justify-content:space-between;gap:12px;padding:18px 0;color:var(--soft);font-size:14px}
.bar strong{color:var(--ink);letter-spacing:.02em}
.verdict{border:1px solid var(--line);border-left:8px solid var(--gap);border-radius:14px;background:var(--card);padding:26px 28px}
.verdict.pass{border-left-color:var(--pass)}.verdict.fail{border-left-color:var(--fail)}.verdict.warn{border-left-color:var(--warn)}
.badge{display:inline-flex;align-items:center;gap:8px;margin:0 0 10px;padding:3px 12px;border-radius:99px;font-weight:700;font-size:14px;letter-spacing:.06em;background:var(--code)}
.pass .badge,.tag.pass{color:var(--pass);background:var(--pass-bg)}.fail .badge,.tag.fail{color:var(--fail);background:var(--fail-bg)}
.warn .badge,.tag.warn{color:var(--warn);background:var(--warn-bg)}
.badge svg{width:16px;height:16px}
h1{font-size:clamp(1.45rem,1.1rem + 1.8vw,2.15rem);line-height:1.2;margin:0 0 8px;font-weight:700;text-wrap:balance}
.lede{margin:0;color:var(--soft);font-size:1.05rem}
h2{font-size:1.3rem;line-height:1.3;margin:44px 0 6px}
h3{font-size:1rem;margin:0 0 4px}
.hint{margin:0 0 14px;color:var(--soft);max-width:72ch}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px;margin:16px 0 0;padding:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 16px;min-width:0}
.card dt{color:var(--soft);font-size:14px}.card dd{margin:0}
.card .big{font-size:1.65rem;font-weight:650;line-height:1.25;font-variant-numeric:tabular-nums}
.card .small{color:var(--soft);font-size:13px}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:14px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px;min-width:0}
figure.wide{grid-column:1/-1}
figcaption{margin:0 0 10px}
figcaption p{margin:2px 0 0;color:var(--soft);font-size:14px}
svg{display:block;width:100%;height:auto;max-width:560px;margin:0 auto}
figure.wide svg{max-width:none}
.label{fill:var(--soft);font-size:12px;font-family:inherit}.halo{fill:var(--card);opacity:.85}
.grid{stroke:var(--line);stroke-width:1;fill:none}.axis,.tick{stroke:var(--soft);stroke-width:1;fill:none}
.line{fill:none;stroke:var(--accent);stroke-width:2}.line.thin{stroke-width:1}.line.flip{stroke:var(--flip)}.line.drift{stroke:var(--drift)}.line.dash{stroke-dasharray:5 4}
.s0{stroke:#2f6fd0}.s1{stroke:#c4661f;stroke-dasharray:7 3}.s2{stroke:#2b8a57;stroke-dasharray:2 3}.s3{stroke:#a0409c;stroke-dasharray:9 3 2 3}.s4{stroke:#7a6a12}.s5{stroke:#5560c4;stroke-dasharray:4 4}
.band{fill:var(--accent);opacity:.16}
.m-same{fill:var(--same)}.m-drift{fill:var(--drift)}.m-flip{fill:var(--flip)}.m-gap{fill:none;stroke:var(--gap)}.m-bar{fill:var(--accent);opacity:.75}
.m-dot{fill:var(--accent)}.m-dot.flip{fill:var(--flip)}.m-dot.drift{fill:var(--drift)}
td svg{max-width:240px;margin:0}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;margin:10px 0 0;padding:0;list-style:none;font-size:13px;color:var(--soft)}
.key svg{display:inline-block;width:14px;height:14px;margin:0 6px 0 0;vertical-align:-2px}
table{width:100%;border-collapse:collapse;background:var(--card);border:1px solid var(--line);border-radius:12px;border-spacing:0;font-variant-numeric:tabular-nums;font-size:15px}
caption{text-align:left;color:var(--soft);padding:0 0 8px}
th,td{padding:8px 12px;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;overflow-wrap:normal;color:var(--soft);font-weight:600;font-size:14px}
tbody th{font-weight:500}
.n{text-align:right}
.tag{display:inline-block;justify-self:start;white-space:nowrap;padding:0 8px;border-radius:99px;font-weight:600;font-size:13px;background:var(--code)}
details{margin:10px 0 0}
summary{cursor:pointer;color:var(--accent);font-size:14px;padding:4px 0}
.tail{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px;margin:0 0 14px}
.tail h3{margin:0 0 6px}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:12px;margin:10px 0}
.side{border:1px solid var(--line);border-radius:8px;padding:10px 12px;min-width:0}
.side p{margin:0}
.side .who{color:var(--soft);font-size:13px;margin:0 0 6px}
.tokens{line-height:2}
.tokens code{margin:0 2px 0 0;white-space:pre-wrap}
.tokens mark{color:inherit;background:none;padding:0}
.tokens mark code{background:var(--mark);text-decoration:underline;text-decoration-thickness:2px;font-weight:700}
.command{display:flex;gap:8px;align-items:flex-start;background:var(--code);border-radius:8px;padding:8px 10px;margin:8px 0 0}
.command code{flex:1;background:none;padding:0;min-width:0}
button{font:inherit;font-size:13px;color:var(--accent);background:var(--card);border:1px solid var(--line);border-radius:6px;padding:2px 10px;cursor:pointer}
footer{margin-top:48px;border-top:1px solid var(--line);padding-top:16px;color:var(--soft);font-size:14px}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:16px 0 0;font-size:15px}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;min-width:0}
@media (max-width:680px){.page{padding:0 16px 48px}.verdict{padding:20px 18px}
table.stack,table.stack tbody,table.stack tr,table.stack td,table.stack th{display:block;width:100%}
table.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.stack tr{border-top:1px solid var(--line);padding:10px 0}table.stack tbody tr:first-child{border-top:0}
table.stack th,table.stack td{border:0;padding:2px 12px;text-align:left}
table.stack td{display:grid;grid-template-columns:9.5em 1fr;gap:10px}
table.stack td::before{content:attr(data-label);color:var(--soft);font-size:14px}
dl.facts{grid-template-columns:1fr}dl.facts dd{margin:0 0 6px}}
@media print{:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--code:#f2f2f2}body{font-size:11pt}.page{max-width:none;padding:0}
button,.skip{display:none}figure,.tail,.verdict,table{break-inside:avoid}details>*{display:block}}
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
