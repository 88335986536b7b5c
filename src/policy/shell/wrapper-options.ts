/** Options of programs that run other programs, as far as needed to find the inner command. */
import type { WrapperOptions } from './skip-options.js';

const wordsOf = (text: string) => text.split(' ');

/** Options by name of the program. */
export const WRAPPER_OPTIONS: ReadonlyMap<string, WrapperOptions> = new Map<string, WrapperOptions>(
  [
    [
      'env',
      {
        flags: 'i0v',
        values: 'uC',
        assigns: true,
        long: wordsOf(
          'ignore-environment null debug list-signal-handling default-signal ignore-signal block-signal',
        ),
        longValues: wordsOf('unset chdir'),
      },
    ],
    [
      'sudo',
      {
        flags: 'AbEeHiKklnPSsVv',
        values: 'CDghpRrTtUu',
        assigns: true,
        opaque: true,
        long: wordsOf(
          'askpass background edit preserve-env set-home login remove-timestamp reset-timestamp list non-interactive preserve-groups stdin shell version validate',
        ),
        longValues: wordsOf(
          'close-from chdir group host prompt chroot role command-timeout type other-user user',
        ),
      },
    ],
    ['doas', { flags: 'nsL', values: 'aCu', assigns: true, opaque: true }],
    [
      'pkexec',
      {
        flags: '',
        values: '',
        long: wordsOf('disable-internal-agent keep-cwd'),
        longValues: ['user'],
        opaque: true,
      },
    ],
    [
      'su',
      {
        flags: 'lmpfPs-',
        values: 'cgGsTw',
        script: true,
        long: wordsOf('login preserve-environment pty fast'),
        longValues: wordsOf('command group shell'),
        positional: 99,
        opaque: true,
      },
    ],
    [
      'runuser',
      {
        flags: 'lmpfP',
        values: 'cgGsuw',
        script: true,
        opaque: true,
        long: wordsOf('login pty'),
        longValues: wordsOf('command user group shell'),
      },
    ],
    ['command', { flags: 'p', values: '', stops: 'vV', sameShell: true, optional: 'vV' }],
    ['builtin', { flags: '', values: '', sameShell: true }],
    ['exec', { flags: 'cl', values: 'a' }],
    ['nohup', { flags: '', values: '' }],
    ['nice', { flags: '', values: 'n', numbers: true, longValues: ['adjustment'] }],
    [
      'ionice',
      {
        flags: 't',
        values: 'cnpPu',
        stops: 'pPu',
        long: ['ignore'],
        longValues: wordsOf('class classdata'),
      },
    ],
    ['chrt', { flags: 'abfiormRv', values: 'pTPD', stops: 'p', positional: 1 }],
    [
      'taskset',
      { flags: 'ac', values: 'p', stops: 'p', positional: 1, long: wordsOf('all-tasks cpu-list') },
    ],
    [
      'time',
      {
        flags: 'apvVq',
        values: 'f',
        long: wordsOf('append portability verbose quiet'),
        longValues: wordsOf('format'),
      },
    ],
    ['gtime', { flags: 'apvVq', values: 'f' }],
    [
      'timeout',
      {
        flags: 'vpf',
        values: 'ks',
        positional: 1,
        long: wordsOf('preserve-status foreground verbose'),
        longValues: wordsOf('kill-after signal'),
      },
    ],
    [
      'gtimeout',
      {
        flags: 'vpf',
        values: 'ks',
        positional: 1,
        long: wordsOf('preserve-status foreground verbose'),
        longValues: wordsOf('kill-after signal'),
      },
    ],
    ['setsid', { flags: 'cfw', values: '', long: wordsOf('ctty fork wait') }],
    ['stdbuf', { flags: '', values: 'ieo', longValues: wordsOf('input output error') }],
    ['unbuffer', { flags: 'p', values: '' }],
    ['caffeinate', { flags: 'dimsu', values: 'tw' }],
    [
      'strace',
      {
        flags: 'cCdDfFhiknqrtTvVwxyYzZ',
        values: 'abeEIoOpPsSuUX',
        stops: 'p',
        opaque: true,
        long: wordsOf('follow-forks'),
        longValues: ['output'],
      },
    ],
    ['ltrace', { flags: 'bcCfhiLrStTV', values: 'aAeDFlnopsuwxX', stops: 'p', opaque: true }],
    [
      'flock',
      {
        flags: 'senoxuvF',
        values: 'wEc',
        script: true,
        opaque: true,
        positional: 1,
        long: wordsOf('shared exclusive nonblock close no-fork verbose'),
        longValues: wordsOf('timeout conflict-exit-code wait command'),
      },
    ],
    [
      'script',
      {
        flags: 'aefqh',
        values: 'cEIBOTmot',
        script: true,
        positional: 99,
        opaque: true,
        long: wordsOf('append flush quiet return'),
        longValues: wordsOf('command log-in log-out log-io'),
      },
    ],
    [
      'chroot',
      {
        flags: '',
        values: '',
        positional: 1,
        opaque: true,
        longValues: wordsOf('groups userspec'),
      },
    ],
    [
      'unshare',
      {
        flags: 'imnpuUCTfrc',
        values: 'SGRw',
        opaque: true,
        long: wordsOf(
          'mount uts ipc net pid user cgroup time fork map-root-user map-current-user mount-proc',
        ),
      },
    ],
    [
      'nsenter',
      {
        flags: 'mnpuUiCTFZre',
        values: 'tSGw',
        opaque: true,
        long: wordsOf('all'),
        longValues: wordsOf('target'),
      },
    ],
    [
      'systemd-run',
      {
        flags: 'qtPrSGdu',
        values: 'pEuMH',
        opaque: true,
        long: wordsOf('user scope wait pty pipe quiet collect'),
        longValues: wordsOf('unit property setenv'),
      },
    ],
  ],
);
