/** Makes the init message: the first message of a run, as a line and as an object. */
import type { LeadSession } from '../../../actors/session/lead-session.js';
import type { PermissionMode } from '../../../protocol/permission/permission-mode.js';
import type { InitMessage } from './skein-message.js';

export interface InitFacts {
  readonly tools: readonly string[];
  /** Agent types that Task can start. */
  readonly agents: readonly string[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
}

export const initMessage = (session: LeadSession, facts: InitFacts, uuid: string): InitMessage => ({
  type: 'system',
  subtype: 'init',
  session_id: session.id,
  cwd: session.meta.cwd,
  model: session.model,
  tools: facts.tools,
  agents: facts.agents,
  mcp_servers: [],
  permissionMode: facts.permissionMode,
  version: facts.version,
  uuid,
});
