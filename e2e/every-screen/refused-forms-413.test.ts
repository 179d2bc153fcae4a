import { testRefusedForms } from "../support/refused-forms.ts";

testRefusedForms({ status: 413, code: "too_large", says: ["This is too large"] });
