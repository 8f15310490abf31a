/**
 * The upstream of the bench, a process of its own: canned answers over raw sockets. It tells its parent the port, and
 * ends with it.
 */
import net, { type AddressInfo, type Socket } from 'node:net';
import { MessageReader } from './message-reader.ts';
import { eventGapMs, plainAnswers, streamShape, uploadAnswer, uploadBytes, uploadFramingBytes } from './payloads.ts';

/** Of a body, what is kept to look at of its beginning and of its end: a gateway may have put the fields in another order. */
const keptBytes = 4096;

const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
);
const lastChunk = Buffer.from('0\r\n\r\n');
const short = plainReply(200, plainAnswers.short);
const longAnswer = plainReply(200, plainAnswers['long-answer']);
const uploaded = plainReply(200, uploadAnswer);
const refused = plainReply(400, Buffer.from('{"error":{"message":"not what the bench sends"}}'));
const full = fullStream(false);
const fullAsked = fullStream(true);

const server = net.createServer({ noDelay: true }, serve);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());

function serve(socket: Socket): void {
  let isUpload = false;
  let size = 0;
  let begin = '';
  let end = '';
  const reader = new MessageReader({
    onHead(head) {
      isUpload = head.startsWith('POST /v1/audio/');
      size = 0;
      begin = '';
      end = '';
    },
    onBody(bytes) {
      size += bytes.length;
      if (isUpload) return;
      if (begin.length < keptBytes) begin += bytes.toString('latin1', 0, keptBytes);
      end = (end + bytes.toString('latin1', Math.max(0, bytes.length - keptBytes))).slice(-keptBytes);
    },
    onEnd() {
      if (isUpload) socket.write(size > uploadBytes && size < uploadBytes + uploadFramingBytes ? uploaded : refused);
      else answer(socket, begin + end);
    },
  });
  socket.on('data', (piece: Buffer) => reader.push(piece));
  // A gateway that breaks off is noticed at the client.
  socket.on('error', () => socket.destroy());
}

function answer(socket: Socket, body: string): void {
  const usageAsked = /"include_usage": ?true/.test(body);
  switch (/"user":"([\w-]+)"/.exec(body)?.[1]) {
    case 'short':
      socket.write(short);
      break;
    case 'long-answer':
      socket.write(longAnswer);
      break;
    case 'full':
      socket.write(usageAsked ? fullAsked : full);
      break;
    case 'paced':
      pace(socket, usageAsked);
      break;
    default:
      socket.write(refused);
  }
}

/** The first event at once, then one each gap, with the end after the last. */
function pace(socket: Socket, usageAsked: boolean): void {
  const shape = streamShape('paced', usageAsked);
  const event = asChunk(shape.event);
  socket.write(Buffer.concat([streamHead, event]));
  let left = shape.count - 1;
  const timer = setInterval(() => {
    left--;
    if (left > 0) {
      socket.write(event);
      return;
    }
    stop();
    socket.write(Buffer.concat([event, asChunk(shape.end), lastChunk]));
  }, eventGapMs);
  const stop = () => {
    clearInterval(timer);
    socket.off('close', stop);
  };
  socket.on('close', stop);
}

/** At full speed: the whole stream, a chunk for each event, handed to the system in one piece. */
function fullStream(usageAsked: boolean): Buffer {
  const { event, count, end } = streamShape('full', usageAsked);
  const chunk = asChunk(event);
  return Buffer.concat([streamHead, ...Array.from({ length: count }, () => chunk), asChunk(end), lastChunk]);
}

function asChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function plainReply(status: 200 | 400, body: Buffer): Buffer {
  const head = `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Bad Request'}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
