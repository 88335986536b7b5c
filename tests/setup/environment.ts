/** The environment variables that a test sees. */

/** Keys, state and settings of the person that runs the tests. */
const PRIVATE = /^(ANTHROPIC|SKEIN|CLAUDE|GIT|XDG)_/;
/** Proxies, because requests to a simulator on this machine must not use a proxy. Tests of proxies set their own. */
const PROXIES = /^(https?|all|no)_proxy$/i;
/** Variables for the tests, such as SKEIN_TEST_REDIS_URL. */
const FOR_TESTS = /^SKEIN_TEST_/;

export const cleanEnvironment = (
  original: Readonly<Record<string, string | undefined>>,
  home: string,
): Record<string, string> => ({
  ...inherited(original),
  HOME: home,
  SKEIN_HOME: `${home}/.skein`,
  // Files that tests leave behind are removed with the run.
  TMPDIR: home,
  NODE_ENV: 'test',
  TZ: 'UTC',
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Skein Tests',
  GIT_AUTHOR_EMAIL: 'tests@skein.invalid',
  GIT_COMMITTER_NAME: 'Skein Tests',
  GIT_COMMITTER_EMAIL: 'tests@skein.invalid',
});

const inherited = (original: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(original).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (FOR_TESTS.test(entry[0]) || !(PRIVATE.test(entry[0]) || PROXIES.test(entry[0]))),
    ),
  );
