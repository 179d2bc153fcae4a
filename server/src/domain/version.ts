import manifest from "../../package.json" with { type: "json" };

/** The version of Spanway, for every place that shows it. */
export const { version } = manifest;
