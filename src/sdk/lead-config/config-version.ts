/** Version of a lead config: `createdAt`, then `epoch`, then `edition`, compared in that order. */
export interface ConfigVersion {
  /** Creation time of the session in ms, because an earlier session may have had the same id. */
  readonly createdAt: number;
  /** Epoch of the lead that published the config. */
  readonly epoch: number;
  /** Count of configs that this lead has published. */
  readonly edition: number;
}

/** True if the first version is older than the second. Both must be of the same session id. */
export const isOlder = (first: ConfigVersion, second: ConfigVersion): boolean => {
  const gaps = ORDER.map((name) => first[name] - second[name]);
  return (gaps.find((gap) => gap !== 0) ?? 0) < 0;
};

const ORDER = ['createdAt', 'epoch', 'edition'] as const;
