/** Connections that run every script twice, as if a connection were lost before the first reply. */
import type { RedisConnections } from '../../../src/store/redis/connection/redis-connections.js';

export const echoingBroker = (broker: RedisConnections): RedisConnections => ({
  shown: broker.shown,
  get trouble() {
    return broker.trouble;
  },
  call: (command, ...args) => broker.call(command, ...args),
  async run(script, keys, args) {
    await broker.run(script, keys, args);
    return broker.run(script, keys, args);
  },
  subscribe: (channel, onMessage, onMissed) => broker.subscribe(channel, onMessage, onMissed),
  listen: (listener) => broker.listen(listener),
  connection: (kind) => broker.connection(kind),
  startRetry: (why) => broker.startRetry(why),
  close: () => broker.close(),
});
