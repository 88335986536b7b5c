/** Program checks: Node itself, and the programs that Skein starts. */
import { ownerMarker } from '../../../host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../host/process/ownership/watchdog-link.js';
import { findShell } from '../../../host/process/shell-script.js';
import { sandboxProblem } from '../../../host/sandbox/sandbox.js';
import { findRipgrep } from '../../../host/search/ripgrep.js';
import { randomIds } from '../../../protocol/ids.js';
import { type DoctorCheck, type Finding, type ProbeResult, probe } from './doctor-check.js';

const MIN_NODE = { major: 20, minor: 19 };

export const nodeFinding = (version: string): Finding => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isEnough = major > MIN_NODE.major || (major === MIN_NODE.major && minor >= MIN_NODE.minor);
  return isEnough
    ? { status: 'ok', found: version }
    : {
        status: 'fail',
        found: `${version} is too old`,
        fix: 'Install Node 20.19 or newer, from nodejs.org or with your version manager.',
      };
};

const checkNode: DoctorCheck = { name: 'node', run: () => nodeFinding(process.version) };

const checkGit: DoctorCheck = {
  name: 'git',
  run: async (host, signal) =>
    findingOf(await probe(['git', '--version'], host, signal), {
      status: 'warn',
      found: 'not on the PATH',
      fix: 'Install git; without it agents cannot read or commit to the history of a project.',
    }),
};

const checkRipgrep: DoctorCheck = {
  name: 'ripgrep',
  async run({ env }) {
    const found = await findRipgrep(env);
    if (found !== undefined) return { status: 'ok', found: `${found.version} at ${found.path}` };
    const fix = 'Install ripgrep (rg) for fast searches in large projects.';
    return { status: 'note', found: 'not found: searches use the slower built-in engine', fix };
  },
};

const checkShell: DoctorCheck = {
  name: 'shell',
  async run(host, signal) {
    const { path } = findShell();
    const found = await probe([path, '-c', 'echo "$BASH_VERSION"'], host, signal);
    if (found.kind !== 'ran') {
      const fix = 'Install bash as /bin/bash; the Bash tool cannot work without a shell.';
      return { status: 'fail', found: `${path} ${problemText(found)}`, fix };
    }
    if (found.output !== '') return { status: 'ok', found: `${path} ${found.output}` };
    return {
      status: 'warn',
      found: `${path}, which is not bash`,
      fix: 'Install bash as /bin/bash: models write commands for bash.',
    };
  },
};

const checkWatchdog: DoctorCheck = {
  name: 'watchdog',
  async run({ watchdog }) {
    const marker = ownerMarker(randomIds('owner'));
    await watchdogLink({ command: watchdog, marker }).ready();
    return { status: 'ok', found: 'starts; child processes end with their owner' };
  },
};

const checkBubblewrap: DoctorCheck = {
  name: 'bubblewrap',
  async run(host, signal) {
    const version = await probe(['bwrap', '--version'], host, signal);
    const problem = await sandboxProblem(host.env);
    if (version.kind === 'ran' && problem === undefined) {
      return { status: 'ok', found: `${version.output}; SKEIN_SANDBOX=auto runs commands in it` };
    }
    const fix = 'Install bubblewrap and allow user namespaces to run commands in a sandbox.';
    return { status: 'note', found: `no sandbox: ${problem ?? problemText(version)}`, fix };
  },
};

const findingOf = (found: ProbeResult, missing: Finding): Finding => {
  if (found.kind === 'ran') return { status: 'ok', found: found.output.split('\n')[0] ?? '' };
  return found.kind === 'missing' ? missing : { ...missing, found: problemText(found) };
};

const problemText = (found: ProbeResult): string =>
  found.kind === 'failed' ? `does not work: ${found.reason}` : 'is missing';

export const PROGRAM_CHECKS: readonly DoctorCheck[] = [
  checkNode,
  checkGit,
  checkRipgrep,
  checkShell,
  checkWatchdog,
  checkBubblewrap,
];
