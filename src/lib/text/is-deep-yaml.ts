const MAX_BRACKETS = 128;
const MAX_INDICATORS_PER_LINE = 32;

/**
 * True if YAML may be nested so deeply that it must not be parsed. The parser recurses per level, and a
 * stack overflow in it can end the process instead of throwing an error.
 */
export const isDeepYaml = (source: string): boolean =>
  (source.match(/[[{]/g)?.length ?? 0) > MAX_BRACKETS ||
  source.split('\n').some((line) => {
    const indicators = line.match(/[-?:](?=\s|$)/g)?.length ?? 0;
    return indicators > MAX_INDICATORS_PER_LINE || /^\s{101}/.test(line);
  });
