export type Question = { feature: string; text: string; policy: string; answer: string };

/** Questions of companies to the travel desk, with the rule that is looked up and the answer. */
export const questions: readonly Question[] = [
  {
    feature: "refunds",
    text: "Our colleague fell ill the day before the flight to Lisbon. Do we get the fare back?",
    policy: "Illness: with a doctor's note, fares of every class are refunded within 30 days, less a fee of 25 EUR.",
    answer:
      "Yes. With a doctor's note the fare is refunded within 30 days, less a fee of **25 EUR**. Send the note and the booking code to the refunds team.",
  },
  {
    feature: "refunds",
    text: "The airline cancelled the return leg. Who pays for the hotel?",
    policy: "Cancelled flights: the airline provides meals and a hotel until the next flight. Keep all receipts.",
    answer:
      "The airline does. It has to offer a hotel and meals until the next flight. If the desk at the airport refuses, book a hotel of up to 150 EUR and **keep the receipt**.",
  },
  {
    feature: "visa",
    text: "Does a German citizen need a visa for a three-day conference in Japan?",
    policy: "Japan: citizens of 71 countries, Germany among them, may stay 90 days for business without a visa.",
    answer:
      "No. German citizens may stay in Japan for up to 90 days for business without a visa. The passport has to be valid for the whole stay.",
  },
  {
    feature: "visa",
    text: "How long before a trip to India should we apply for the business e-visa?",
    policy: "India: e-visa for business, apply 4 to 120 days before arrival; processing takes three working days.",
    answer:
      "Apply at least **four days** before arrival, better two weeks. You need:\n\n1. a passport that is valid for six months\n2. a photo\n3. an invitation from the company that you visit",
  },
  {
    feature: "booking",
    text: "Find a train from Berlin to Munich on Thursday that arrives before noon.",
    policy: "Trains: up to five hours, second class, first class from four hours on.",
    answer:
      "| leaves | arrives | price |\n|---|---|---|\n| 06:05 | 10:02 | 89.90 EUR |\n| 07:05 | 11:02 | 109.90 EUR |\n\nBoth are direct. As the journey takes four hours, first class is allowed.",
  },
  {
    feature: "booking",
    text: "Can I bring a second suitcase on the flight to Toronto?",
    policy: "Bags: one of 23 kg on long flights; a second costs 65 EUR online, 100 EUR at the airport.",
    answer: "Yes, for 65 EUR if you add it online, or 100 EUR at the airport. One suitcase of up to 23 kg is included.",
  },
  {
    feature: "expenses",
    text: "Quel est le forfait repas pour un déplacement de deux jours à Genève ?",
    policy: "Meals: Switzerland 64 EUR for a full day, 43 EUR for days of arrival and departure.",
    answer:
      "Pour deux jours à Genève : 43 EUR le jour d'arrivée et 43 EUR le jour du départ, soit **86 EUR** au total.",
  },
  {
    feature: "expenses",
    text: "出張のタクシー代は精算できますか？",
    policy: "Taxis: between 22:00 and 6:00, with luggage over 20 kg, or where no train runs. Receipts are needed.",
    answer: "はい。22時から6時まで、20kgを超える荷物がある場合、または電車がない場合は精算できます。領収書が必要です。",
  },
  {
    feature: "hotels",
    text: "Which hotel near the fair in Milan has rooms for twelve people from 3 to 6 March?",
    policy: "Groups: from ten rooms on, ask three hotels for an offer. Milan: up to 180 EUR a night.",
    answer:
      "For twelve rooms we have to ask three hotels. I suggest *Hotel Fiera*, *Porta Nuova Rooms* and *Casa Rho*; all are within ten minutes of the fair and below 180 EUR a night. Shall I ask them?",
  },
  {
    feature: "hotels",
    text: "Please extend my stay in Warsaw by one night.",
    policy: "Changes: free until 18:00 of the day before arrival; later ones cost the first night.",
    answer: "Done. Your stay now ends on Friday, at the same rate of 94 EUR a night. Breakfast is included.",
  },
];
