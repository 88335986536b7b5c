/** What an agent below the lead says, as every listener of the lead hears it. */

import type { AgentTag } from '../../protocol/agent/swarm.js';
import type { Feed } from '../../protocol/session/feed.js';

export const childFeed = (agent: AgentTag, lead: Feed, active: () => void): Feed => ({
  wantsStreamEvents: lead.wantsStreamEvents,
  emit(item) {
    active();
    lead.emit({ type: 'agent.feed', agent, item });
  },
});
