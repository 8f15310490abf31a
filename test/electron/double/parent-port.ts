/** Provides `process.parentPort`, as Electron does in a utility process. */
import { EventEmitter } from 'node:events';

const parentPort = Object.assign(new EventEmitter(), {
  postMessage: (message: unknown) => void process.send?.(message),
});
process.on('message', (message) => parentPort.emit('message', message));
Object.defineProperty(process, 'parentPort', { value: parentPort });
