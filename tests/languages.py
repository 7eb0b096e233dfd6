"""Sentences in fourteen languages, written for tests; and texts of no language."""

SENTENCES = {
    "ar": [
        "كان الميناء مليئا بالسفن عندما جاءت العاصفة من البحر.",
        "من المتوقع هطول الأمطار في الشمال.",
    ],
    "de": [
        "Der Hafen war voller Schiffe, als der Sturm vom Meer kam.",
        "Im Norden wird Regen erwartet.",
        "Mein Rechner startet nicht mehr.",
    ],
    "el": ["Το λιμάνι ήταν γεμάτο πλοία όταν ήρθε η καταιγίδα.", "Στον βορρά αναμένεται βροχή."],
    "en": [
        "The harbour was full of ships when the storm came in from the sea.",
        "Rain is expected in the north.",
        "My computer does not start.",
    ],
    "es": [
        "El puerto estaba lleno de barcos cuando la tormenta llegó del mar.",
        "El médico dice que mañana tengo que volver al hospital.",
        "Mi ordenador ya no arranca.",
    ],
    "fr": [
        "Le port était plein de bateaux quand la tempête est venue de la mer.",
        "On attend de la pluie dans le nord.",
        "Mon ordinateur ne démarre plus.",
    ],
    "it": [
        "Il porto era pieno di navi quando la tempesta arrivò dal mare.",
        "Si prevede pioggia al nord.",
    ],
    "ja": ["嵐が海から来たとき、港は船でいっぱいだった。", "北部では雨が予想される。"],
    "nl": [
        "De haven lag vol schepen toen de storm van zee kwam.",
        "In het noorden wordt regen verwacht.",
    ],
    "pl": [
        "Port był pełen statków, gdy burza nadeszła od morza.",
        "Na północy spodziewany jest deszcz.",
    ],
    "pt": [
        "O porto estava cheio de navios quando a tempestade chegou do mar.",
        "Espera-se chuva no norte.",
    ],
    "ru": ["Гавань была полна кораблей, когда с моря пришла буря.", "На севере ожидается дождь."],
    "tr": ["Fırtına denizden geldiğinde liman gemilerle doluydu.", "Kuzeyde yağmur bekleniyor."],
    "zh": ["暴风雨从海上来的时候，港口里停满了船。", "预计北方有雨。", "我的电脑无法启动。"],
}
NO_LANGUAGE = [
    "",
    "ok",
    "harbour",
    "12345 67890 12345 67890",
    "-" * 60,
    "x = y + 1; return z",
    "\ud800 " * 20,
]
