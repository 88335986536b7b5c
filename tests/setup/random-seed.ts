/**
 * Seed of the random choices of the tests. `SKEIN_TEST_SEED` repeats the choices of an earlier run; without it every
 * run makes others. `.ci/run` derives the seed from the commit, so that two runs of a commit test the same values.
 */
import fc from 'fast-check';

const given = Number.parseInt(process.env.SKEIN_TEST_SEED ?? '', 10);

export const randomSeed = Number.isInteger(given)
  ? given
  : 1 + Math.floor(Math.random() * 1_000_000);

// fast-check reports the seed of a failed property. Without a given seed each property gets a seed of its own.
if (Number.isInteger(given)) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: given });
