import manifest from "../../package.json" with { type: "json" };

/** The version of Spanway, as every place that shows one has it. */
export const { version } = manifest;
