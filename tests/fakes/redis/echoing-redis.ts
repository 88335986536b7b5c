/** A broker whose every script arrives twice, as it may when a connection is lost before the reply: the first is never heard. */
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
  subscribe: (channel, heard, missed) => broker.subscribe(channel, heard, missed),
  listen: (listener) => broker.listen(listener),
  connection: (kind) => broker.connection(kind),
  startRetry: (why) => broker.startRetry(why),
  close: () => broker.close(),
});
