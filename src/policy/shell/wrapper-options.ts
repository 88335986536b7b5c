/** Options of programs that run other programs, as far as needed to find the inner command. */
import type { WrapperOptions } from './skip-options.js';

const wordsOf = (text: string) => text.split(' ');

const ARCHITECTURES = wordsOf('linux32 linux64 i386 i486 i586 i686 x86_64 uname26');

export const SETARCH: WrapperOptions = {
  flags: 'vRFZLXBIST3',
  values: 'p',
  long: wordsOf(
    'verbose addr-no-randomize fdpic-funcptrs mmap-page-zero addr-compat-layout read-implies-exec 32bit short-inode whole-seconds sticky-timeouts 3gb 4gb uname-2.6',
  ),
};

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
    ...ARCHITECTURES.map((name) => [name, SETARCH] as const),
    [
      'prlimit',
      {
        flags: '',
        values: 'o',
        stops: 'p',
        optional: 'cdefilmnqrstuvxyp',
        long: wordsOf('noheadings raw verbose'),
        longValues: wordsOf(
          'output core data nice fsize sigpending memlock rss nofile msgqueue rtprio stack cpu nproc as locks rttime',
        ),
      },
    ],
    [
      'setpriv',
      {
        flags: 'd',
        values: '',
        opaque: true,
        long: wordsOf('dump clear-groups keep-groups init-groups no-new-privs nnp reset-env'),
        longValues: wordsOf(
          'ambient-caps inh-caps bounding-set ruid euid reuid rgid egid regid groups securebits pdeathsig selinux-label apparmor-profile',
        ),
      },
    ],
    ['choom', { flags: '', values: 'np', stops: 'p', longValues: ['adjust', 'pid'] }],
    [
      'uclampset',
      { flags: 'asv', values: 'mMp', stops: 'p', long: wordsOf('all-tasks system reset-on-fork') },
    ],
    ['runcon', { flags: 'c', values: 'turl', positional: 1, opaque: true }],
    [
      'numactl',
      {
        flags: 'as',
        values: 'imNCpP',
        longValues: wordsOf('interleave membind cpunodebind physcpubind'),
      },
    ],
    ['cpulimit', { flags: 'izqv', values: 'lpPe', stops: 'p' }],
    ['fakeroot', { flags: 'u', values: 'lsifbc' }],
    ['faketime', { flags: 'mf', values: '', positional: 1 }],
    ['xvfb-run', { flags: 'al', values: 'efnpsw' }],
    ['dbus-run-session', { flags: '', values: '' }],
    ['chronic', { flags: 'ev', values: '' }],
    ['sem', { flags: 'k', values: 'jn', long: ['fg'] }],
    ['catchsegv', { flags: '', values: '' }],
    ['torsocks', { flags: 'i', values: 'uaP' }],
    ['proxychains', { flags: 'q', values: 'f' }],
    ['proxychains4', { flags: 'q', values: 'f' }],
    ['valgrind', { flags: 'qvd', values: '' }],
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
