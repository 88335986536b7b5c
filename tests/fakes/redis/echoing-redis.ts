/** Connections that run every script twice, as if a connection were lost before the first reply. */
import type { RedisConnections } from '../../../src/store/redis/connection/redis-connections.js';

export const echoingConnections = (connections: RedisConnections): RedisConnections => ({
  shown: connections.shown,
  get outage() {
    return connections.outage;
  },
  call: (command, ...args) => connections.call(command, ...args),
  async run(script, keys, args) {
    await connections.run(script, keys, args);
    return connections.run(script, keys, args);
  },
  subscribe: (channel, onMessage, onMissed) => connections.subscribe(channel, onMessage, onMissed),
  listen: (listener) => connections.listen(listener),
  connection: (kind) => connections.connection(kind),
  startRetry: (why) => connections.startRetry(why),
  close: () => connections.close(),
});
