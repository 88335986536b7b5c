/** Looks through all processes: by a variable of their environment, or by their group. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

interface MarkedProcess {
  readonly pid: number;
  readonly value: string;
}

/**
 * The processes that this user may look at, without this one. A daemon that left its group still
 * has the environment it was started with; the dead have none.
 */
const marked = async (variable: string): Promise<readonly MarkedProcess[]> => {
  const found = await (process.platform === 'linux'
    ? markedInProc(variable)
    : markedInPs(variable));
  return found.filter(({ pid }) => pid !== process.pid);
};

/** Whether the group has a member that is not a zombie. */
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

/** After the program's name, which stands in brackets and may contain some: state, parent, group. */
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

/** `ps -E` prints the environment after the command, separated by blanks; our values have none. */
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
