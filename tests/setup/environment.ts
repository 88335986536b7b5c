/** What a test may see of the environment it was started in. */

/** Keys, state and habits of the person who runs the tests. */
const PRIVATE = /^(ANTHROPIC|SKEIN|CLAUDE|GIT|XDG)_/;
/** A simulator on this machine must not be sought behind a proxy. Tests of proxies set their own. */
const PROXIES = /^(https?|all|no)_proxy$/i;
/** Meant for the tests, such as SKEIN_TEST_REDIS_URL. */
const OURS = /^SKEIN_TEST_/;

export const cleanEnvironment = (
  outside: Readonly<Record<string, string | undefined>>,
  home: string,
): Record<string, string> => ({
  ...inherited(outside),
  HOME: home,
  SKEIN_HOME: `${home}/.skein`,
  // What tests leave behind goes with the run.
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

const inherited = (outside: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(outside).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (OURS.test(entry[0]) || !(PRIVATE.test(entry[0]) || PROXIES.test(entry[0]))),
    ),
  );
