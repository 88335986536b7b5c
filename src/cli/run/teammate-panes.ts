/**
 * Shows each teammate in a tmux pane of its own, for those who ask for it. It works in this process all the
 * same: a pane is a window on it, and whoever closes one ends nothing.
 */
import { dirname, join } from 'node:path';
import { openPane } from '../../host/process/tmux-pane.js';
import type { HostSession } from '../../sdk/assembly/open-host-session.js';
import type { HostEnvironment } from '../../sdk/assembly/options/host-environment.js';

export const showTeammates = (
  { session, settings }: HostSession,
  machine: HostEnvironment,
): void => {
  const { env, cwd, watchdog, notify } = machine;
  const { TMUX, TMUX_PANE: beside } = env;
  if (TMUX === undefined || beside === undefined) {
    notify('This terminal is not in tmux, so teammates have no panes of their own here.');
    return;
  }
  const [node = process.execPath, program = ''] = watchdog;
  const skein = join(dirname(program), 'skein.js');
  session.listen((item) => {
    if (item.type !== 'agent.spawned' || item.agent.kind !== 'teammate') return;
    const command = [node, skein, 'logs', item.agent.id, '--follow'] as const;
    const variables = { SKEIN_HOME: settings.skeinHome };
    openPane({ beside, command: [...command], cwd, variables, environment: env }).catch(
      (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        notify(`tmux opened no pane for ${item.agent.name ?? item.agent.id}: ${why}`);
      },
    );
  });
};
