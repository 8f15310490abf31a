import net from 'node:net';

/**
 * Writes the bytes to a port, closes its own side, and reads until the other side closes. Rejects if that takes longer
 * than `limitMs`.
 */
export function rawExchange(port: number, bytes: Buffer, limitMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = net.connect({ host: '127.0.0.1', port });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`The connection was still open after ${limitMs} ms.`));
    }, limitMs);
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    // A reset also closes the connection.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(pieces));
    });
    socket.end(bytes);
  });
}
