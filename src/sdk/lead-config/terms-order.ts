/** When something was said about how a session is led, among all that was said of it: the first that differs decides. */
export interface ConfigVersion {
  /** When the session was created, since another may have had its name before. */
  readonly createdAt: number;
  /** Of the lead that says so. */
  readonly epoch: number;
  /** How often that lead has said so. */
  readonly edition: number;
}

/** Both of one session's name: the second was said after the first. */
export const isOlder = (first: ConfigVersion, second: ConfigVersion): boolean => {
  const gaps = ORDER.map((name) => first[name] - second[name]);
  return (gaps.find((gap) => gap !== 0) ?? 0) < 0;
};

const ORDER = ['createdAt', 'epoch', 'edition'] as const;
