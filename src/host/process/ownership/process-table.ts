/** Process table of this machine, searched by environment variable or by process group. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

interface MarkedProcess {
  readonly pid: number;
  readonly value: string;
}

/**
 * Returns the visible processes with the environment variable, except this process. A daemon that left its group
 * keeps its start environment. Zombies have none.
 */
const marked = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const found = await (process.platform === 'linux'
    ? markedInProc(variable)
    : markedInPs(variable));
  return found.filter(({ pid }) => pid !== process.pid);
};

/** True if the group has a process that is not a zombie. */
const hasLivingMember = async (group: number): Promise<boolean> => {
  const members = await (process.platform === 'linux' ? statesInProc() : statesInPs());
  return members.some((member) => member.group === group && !/^[ZX]/.test(member.state));
};

const pids = async () => (await readdir('/proc')).filter((name) => /^\d+$/.test(name));

const markedInProc = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const prefix = `${variable}=`;
  const found: MarkedProcess[] = [];
  for (const pid of await pids()) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const entry = environment.split('\0').find((line) => line.startsWith(prefix));
    if (entry !== undefined) found.push({ pid: Number(pid), value: entry.slice(prefix.length) });
  }
  return found;
};

/** Parses state, parent and group after the last bracket, because the program name may contain brackets. */
const statesInProc = async () => {
  const found: { readonly group: number; readonly state: string }[] = [];
  for (const pid of await pids()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    found.push({ group: Number(group), state });
  }
  return found;
};

const ps = async (...args: readonly string[]) => {
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('ps', args, options);
  return stdout.split('\n');
};

/** Parses `ps -E`, which prints the environment after the command, separated by blanks. Marker values have no blanks. */
const markedInPs = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const pattern = new RegExp(`^\\s*(\\d+) .*\\s${variable}=(\\S+)`);
  return (await ps('-axEww', '-o', 'pid=,command=')).flatMap((line) => {
    const [, pid, value] = pattern.exec(line) ?? [];
    return pid === undefined || value === undefined ? [] : [{ pid: Number(pid), value }];
  });
};

const statesInPs = async () =>
  (await ps('-ax', '-o', 'pgid=,state=')).map((line) => {
    const [group, state = ''] = line.trim().split(/\s+/);
    return { group: Number(group), state };
  });

export const processTable = { marked, hasLivingMember };
