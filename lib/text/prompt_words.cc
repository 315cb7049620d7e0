#include "text/prompt_words.h"

#include <array>

namespace isobit {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPersons{"Anna"sv,  "Daniel"sv, "Maria"sv, "Peter"sv,  "Julia"sv, "Thomas"sv,
                              "Emma"sv,  "David"sv,  "Sarah"sv, "Martin"sv, "Laura"sv, "Simon"sv,
                              "Alice"sv, "Robert"sv, "Helen"sv, "Victor"sv};
constexpr std::array kTowns{"Lisbon"sv, "Oslo"sv,   "Dublin"sv, "Vienna"sv,
                            "Prague"sv, "Geneva"sv, "Boston"sv, "Toronto"sv,
                            "Madrid"sv, "Athens"sv, "Warsaw"sv, "Helsinki"sv};
constexpr std::array kMonths{"January"sv,   "February"sv, "March"sv,    "April"sv,
                             "May"sv,       "June"sv,     "July"sv,     "August"sv,
                             "September"sv, "October"sv,  "November"sv, "December"sv};
constexpr std::array kWeekdays{"Monday"sv, "Tuesday"sv,  "Wednesday"sv, "Thursday"sv,
                               "Friday"sv, "Saturday"sv, "Sunday"sv};
constexpr std::array kFoods{"bread"sv,   "apples"sv,         "tomato soup"sv, "rice"sv,
                            "cheese"sv,  "pancakes"sv,       "lentils"sv,     "roast chicken"sv,
                            "carrots"sv, "chocolate cake"sv, "potatoes"sv,    "honey"sv};
constexpr std::array kAnimals{"owl"sv,      "dolphin"sv,  "fox"sv,     "bee"sv,
                              "horse"sv,    "tortoise"sv, "raven"sv,   "salmon"sv,
                              "elephant"sv, "hedgehog"sv, "penguin"sv, "wolf"sv};
constexpr std::array kObjects{"bicycle"sv, "clock"sv,    "lamp"sv,    "telescope"sv,
                              "piano"sv,   "notebook"sv, "compass"sv, "camera"sv,
                              "bridge"sv,  "radio"sv,    "window"sv,  "kettle"sv};
constexpr std::array kColours{"red"sv,   "blue"sv,  "green"sv, "yellow"sv,
                              "white"sv, "black"sv, "brown"sv, "grey"sv};
constexpr std::array kJobs{"teacher"sv, "nurse"sv, "carpenter"sv, "farmer"sv,   "librarian"sv,
                           "pilot"sv,   "baker"sv, "engineer"sv,  "gardener"sv, "journalist"sv};
constexpr std::array kLanguages{"French"sv,  "German"sv,     "Spanish"sv,
                                "Italian"sv, "Portuguese"sv, "Dutch"sv};
constexpr std::array kTopics{
    "the water cycle"sv,  "photosynthesis"sv,  "gravity"sv,           "the printing press"sv,
    "earthquakes"sv,      "the human heart"sv, "electricity"sv,       "the Roman Empire"sv,
    "vaccines"sv,         "ocean tides"sv,     "compound interest"sv, "volcanoes"sv,
    "the solar system"sv, "democracy"sv,       "batteries"sv,         "bird migration"sv};

struct Slot {
  std::string_view name;
  WordList words;
};
constexpr Slot kSlots[] = {{"person", kPersons},     {"town", kTowns},     {"month", kMonths},
                           {"weekday", kWeekdays},   {"food", kFoods},     {"animal", kAnimals},
                           {"object", kObjects},     {"colour", kColours}, {"job", kJobs},
                           {"language", kLanguages}, {"topic", kTopics}};

constexpr std::array kQuestionShort{
    "What is {topic}?"sv,
    "Why is {topic} important?"sv,
    "How does a {object} work?"sv,
    "What does a {job} do all day?"sv,
    "What is the capital of the country where {town} lies?"sv,
    "Why do people in {town} like to eat {food} in {month}?"sv,
    "Explain {topic} to a child who is {small} years old."sv,
    "What is the difference between a {animal} and a {animal}, and which one lives longer?"sv,
    "I have read that {topic} changed how people live. Is that true, and what would be a good example of it?"sv};
constexpr std::array kListShort{
    "Name {small} kinds of {food}."sv,
    "List {small} facts about {topic}."sv,
    "Give me {small} names for a {colour} {animal}."sv,
    "List the steps to clean an old {object} without damaging it."sv,
    "Write a shopping list for {small} people who want to cook {food} and {food} on {weekday}."sv,
    "Give {small} reasons why a {job} might want to learn {language}, from the most to the least important."sv};
constexpr std::array kCodeShort{
    "Write a Python function that reverses a string."sv,
    "Write a Python function that counts the vowels in a word."sv,
    "How do I read a file line by line in Python?"sv,
    "Write a SQL query that returns the {small} oldest customers from {town}."sv,
    "Write a C function that returns the largest of {small} numbers, and explain each line of it briefly."sv,
    "In Python, how can I sort a list of people by age and then by name, with the oldest person first?"sv};
constexpr std::array kArithmeticShort{
    "What is {number} plus {number}?"sv,
    "Compute {number} times {small}."sv,
    "What is {large} minus {number}?"sv,
    "A {object} costs {number} euros. How much do {small} of them cost?"sv,
    "{person} has {number} apples and gives {small} of them to {person}. How many apples are left?"sv,
    "A train leaves {town} at {small} in the morning and drives {number} kilometres an hour. How far is it after {small} hours?"sv,
    "If {small} bakers make {large} loaves of bread in one day, how many loaves do {number} bakers make in {small} days? Show each step."sv};
constexpr std::array kTranslationShort{
    "Translate to {language}: good morning."sv,
    "How do you say \"{colour} {object}\" in {language}?"sv,
    "Translate to {language}: The {animal} sleeps under the {object}."sv,
    "Translate this sentence to {language}: On {weekday} we will visit our friends in {town} and eat {food} together."sv,
    "Give me the {language} words for {food}, {food} and {object}, and use each of them in a short sentence."sv};
constexpr std::array kStoryShort{
    "Tell me a story about a {animal}."sv, "Write a poem about a {colour} {object}."sv,
    "Write a short story in which a {job} finds a {object}."sv,
    "Tell a bedtime story about a {animal} who wants to travel to {town} with a {colour} {object}."sv,
    "Write the first paragraph of a mystery that begins on a {weekday} in {month}, when {person} opens an old {object}."sv};
constexpr std::array kRewriteShort{
    "Make this polite: give me the {object}."sv,
    "Correct the grammar: she have {small} {object}s."sv,
    "Rewrite in the past tense: {person} walks to the market and buys {food}."sv,
    "Rewrite this sentence so that it sounds friendlier: The {job} must bring the {object} back before {weekday}."sv,
    "Turn these notes into one sentence: meeting on {weekday}, {small} people, bring {food}, ask {person} about the {object}."sv};
constexpr std::array kAdviceShort{
    "How can I learn {language}?"sv,
    "Plan a weekend in {town}."sv,
    "How do I become a {job}?"sv,
    "What should I cook with {food} and {food}?"sv,
    "I have {small} free days in {month} and little money. Where should I go, and what should I see there?"sv,
    "My {object} is broken and the repair costs {number} euros. Should I repair it or buy a new one? Help me to decide."sv};

constexpr std::array kQuestionLong{
    "Read the text and answer: who is {hero}, and what does the text say about {place}?"sv,
    "Answer this question using only the text below: what changed, and why?"sv};
constexpr std::array kListLong{
    "List the facts in the following text, one per line."sv,
    "Make a table of all the numbers in this text and what each of them means."sv};
constexpr std::array kCodeLong{"Explain what this code does, and point out any bugs."sv,
                               "Write tests for the following Python functions."sv,
                               "Add comments to this code and suggest better names."sv};
constexpr std::array kArithmeticLong{
    "Add up all the numbers in the text below, step by step."sv,
    "What is the largest number in this text, and what is the smallest? Compute the difference."sv};
constexpr std::array kTranslationLong{
    "Translate the following text to {language}."sv,
    "Translate the first sentence of this text to {language} and the last one to {language}."sv};
constexpr std::array kStoryLong{"Continue this story. Keep the same style and the same people."sv,
                                "Write a surprising ending for the following story."sv};
constexpr std::array kRewriteLong{
    "Rewrite the following text in simple words for a young reader."sv,
    "Shorten this text to half its length without losing a fact."sv};
constexpr std::array kAdviceLong{"Read this report and give {hero} {small} pieces of advice."sv,
                                 "Summarise the following report in three sentences."sv};

constexpr PromptKind kKinds[] = {
    {"question", kQuestionShort, kQuestionLong, false},
    {"list", kListShort, kListLong, false},
    {"code", kCodeShort, kCodeLong, true},
    {"arithmetic", kArithmeticShort, kArithmeticLong, false},
    {"translation", kTranslationShort, kTranslationLong, false},
    {"story", kStoryShort, kStoryLong, false},
    {"rewrite", kRewriteShort, kRewriteLong, false},
    {"summary", kAdviceShort, kAdviceLong, false},
};

constexpr std::array kExtraRequests{
    "Keep the answer short."sv,
    "Please use simple words."sv,
    "Answer in one paragraph."sv,
    "Give one example that a {job} would understand."sv,
    "Do not use more than {number} words."sv,
    "If something is not clear, say what you would need to know."sv,
    "Begin with the most important point and leave out what everybody knows already."sv,
    "I am writing this for {person}, who is a {job} in {town}, so be friendly but exact."sv,
    "At the end, add a single sentence that I can send to my friends."sv};

constexpr std::array kLibrary{
    "The public library of {place} was opened in {year} and has grown ever since."sv,
    "{hero} has worked there for {small} years and knows almost every visitor by name."sv,
    "On the ground floor there is a reading room with {number} chairs and tall windows."sv,
    "Last {month} the library lent out {large} books, more than in any month before."sv,
    "Children come on {weekday} afternoons, when a {job} reads to them from old fairy tales."sv,
    "The roof was repaired after a storm, and the work took {small} weeks."sv,
    "A {colour} {object} stands next to the entrance, and nobody remembers who put it there."sv,
    "Because paper was expensive, the first catalogue was written by hand on {large} small cards."sv,
    "Visitors can now search for a book from home and collect it on the next day."sv,
    "The town pays most of the costs, but {number} percent of the money comes from donations."sv,
    "{hero} would like to open the library in the evening too, if two more people could be hired."sv,
    "One visitor returned a book about {topic} that he had borrowed {number} years earlier."sv};
constexpr std::array kGarden{
    "Behind the school in {place} lies a garden that the pupils look after themselves."sv,
    "{hero}, who is a {job}, had the idea in the spring of {year}."sv,
    "At first there were only {small} beds of {food} and a row of apple trees."sv,
    "Every class waters the plants for one week, and on {weekday} the weeds are pulled out."sv,
    "In {month} the pupils counted {large} bees in a single hour."sv,
    "A {animal} visits the garden at night and eats the snails."sv,
    "The soil was poor, so they mixed it with leaves and waited for {small} months."sv,
    "What they harvest is cooked in the school kitchen or sold at the market for {number} euros a basket."sv,
    "During the dry summer the water tank was empty after {small} days."sv,
    "Since then rain from the roof has been collected in {number} old barrels."sv,
    "The pupils also learn about {topic}, because the garden makes it easy to see."sv,
    "Next year {hero} wants to build a small house out of glass, so that tomatoes can grow in {month}."sv};
constexpr std::array kRailway{
    "The railway line between {place} and {town} is {number} kilometres long and crosses {small} rivers."sv,
    "It was built in {year}, when the only other road was often under snow."sv,
    "{hero} drives the first train every {weekday} at half past five in the morning."sv,
    "About {large} people use the line each day, most of them on their way to work."sv,
    "The old signals are worked by hand, and a {job} has to climb up to repair them."sv,
    "Last {month} a tree fell on the track and stopped all trains for {small} hours."sv,
    "Passengers say that the new {colour} carriages are quieter but also colder."sv,
    "A ticket costs {small} euros, and children under {small} travel free."sv,
    "From the bridge one can see the mountains, and sometimes a {animal} at the edge of the forest."sv,
    "Engineers have measured the bridge {number} times and found that it moves by {small} millimetres in the wind."sv,
    "The company wants to run the trains on electricity before the end of the decade."sv,
    "{hero} thinks that the timetable, not the engine, is what makes people choose the train."sv};
constexpr std::array kStation{
    "High above {place} a small station has measured the weather since {year}."sv,
    "{hero} climbs up on foot in winter, which takes {small} hours when the snow is deep."sv,
    "The coldest night was in {month}, with {small} degrees below zero."sv,
    "Three instruments write down the wind, the rain and the light every {small} minutes."sv,
    "Once a {animal} chewed through a cable, and {large} measurements were lost."sv,
    "The numbers are sent to {town}, where a computer compares them with those of {number} other stations."sv,
    "According to {hero}, clouds tell more than any instrument, if one looks for long enough."sv,
    "The summers have become longer by {small} days since the first measurement."sv,
    "In the hut there are a bed, a stove, a {colour} {object} and {number} cans of soup."sv,
    "On clear mornings the sea can be seen, although it is {large} kilometres away."sv,
    "A {job} from the valley brings fresh {food} on the first {weekday} of each month."sv,
    "When the radio is silent, {hero} writes letters about {topic} that arrive weeks later."sv};
constexpr std::array kWorkshop{
    "In a narrow street of {place}, {hero} repairs every kind of {object}."sv,
    "The workshop belonged to a {job} until {year} and still smells of oil and wood."sv,
    "On the wall hang {number} keys, and only {small} of them fit a lock."sv,
    "Customers usually wait {small} days, but before the holidays it can be a month."sv,
    "{hero} keeps a list of all repairs, and there are {large} of them by now."sv,
    "Most things break, says {hero}, because nobody cleaned them in {month}."sv,
    "A simple repair costs {number} euros, and a difficult one is paid in {food}."sv,
    "Last {weekday} a boy brought a {colour} {object} that had been under water for a year."sv,
    "It took {small} attempts, a new spring and much patience until it worked again."sv,
    "Young people come on {weekday} evenings to learn how to use the tools."sv,
    "{hero} does not throw anything away, since a broken part may save another machine."sv,
    "The rent rises by {small} percent each year, and nobody knows how long the workshop can stay."sv};
constexpr std::array kIsland{
    "An hour by boat from {place} lies an island with {number} houses and no cars."sv,
    "{hero} moved there in {year} in order to study the {animal}."sv,
    "The boat comes on {weekday}, if the wind allows it, and brings letters and {food}."sv,
    "In {month} the island has {large} visitors, in winter only {small}."sv,
    "Drinking water is collected from the rain, so nobody washes a {object} in summer."sv,
    "The lighthouse was painted {colour} and can be seen from {number} kilometres away."sv,
    "There is one school with {small} children, and the {job} teaches all of them in one room."sv,
    "Every evening {hero} writes down how many animals came to the beach, and once it was {large}."sv,
    "The older people remember a storm that carried away {small} roofs and a church bell."sv,
    "A cable under the sea has brought electricity since the spring, and with it the first refrigerator."sv,
    "Some families want a hotel, while others would rather keep the island as it is."sv,
    "At low tide one can walk to a rock where a {colour} {object} has been rusting for years."sv};

constexpr PassageSubject kSubjects[] = {{"library", kLibrary},   {"garden", kGarden},
                                        {"railway", kRailway},   {"station", kStation},
                                        {"workshop", kWorkshop}, {"island", kIsland}};

constexpr std::array kCode{
    "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n    return total / len(values)\n"sv,
    "def is_prime(n):\n    if n < 2:\n        return False\n    for d in range(2, n):\n        if n % d == 0:\n            return False\n    return True\n"sv,
    "def count_words(text):\n    counts = {}\n    for word in text.lower().split():\n        counts[word] = counts.get(word, 0) + 1\n    return counts\n"sv,
    "def clamp(value, low, high):\n    if value < low:\n        return low\n    if value > high:\n        return high\n    return value\n"sv,
    "def binary_search(items, target):\n    low = 0\n    high = len(items)\n    while low < high:\n        middle = (low + high) // 2\n        if items[middle] < target:\n            low = middle + 1\n        else:\n            high = middle\n    return low\n"sv,
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop()\n"sv,
    "def fibonacci(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n"sv,
    "def flatten(rows):\n    result = []\n    for row in rows:\n        for cell in row:\n            result.append(cell)\n    return result\n"sv,
    "def read_settings(path):\n    settings = {}\n    with open(path) as lines:\n        for line in lines:\n            if line.startswith(\"#\"):\n                continue\n            name, value = line.strip().split(\"=\")\n            settings[name] = value\n    return settings\n"sv,
    "def caesar(text, shift):\n    result = \"\"\n    for letter in text:\n        if letter.isalpha():\n            code = ord(letter) + shift\n            result += chr(code)\n        else:\n            result += letter\n    return result\n"sv,
    "def transpose(matrix):\n    return [list(column) for column in zip(*matrix)]\n"sv,
    "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n"sv};

constexpr std::array kOneToken{
    "The man went to the market in the morning and came back with bread and fish ."sv,
    "She said that the house was old , but the garden was full of light ."sv,
    "We do not know who built the bridge , and no one asked ."sv,
    "In the evening the children sat by the fire and told each other about the day ."sv,
    "It was cold , so he closed the door and went to sleep ."sv,
    "The river is long and the road is short , but both lead to the sea ."sv,
    "They had two horses and a small boat , and that was all they needed ."sv,
    "When the rain came , the people stood under the trees and waited ."sv,
    "My father worked in the city for many years before he bought the farm ."sv,
    "There is a letter on the table , and it is from your mother ."sv};

}  // namespace

WordList slot_words(std::string_view slot) {
  for (const Slot& known : kSlots) {
    if (known.name == slot) return known.words;
  }
  return {};
}

std::span<const PassageSubject> passage_subjects() {
  return kSubjects;
}
std::span<const PromptKind> prompt_kinds() {
  return kKinds;
}
WordList code_fragments() {
  return kCode;
}
WordList extra_requests() {
  return kExtraRequests;
}
WordList one_token_sentences() {
  return kOneToken;
}

}  // namespace isobit
