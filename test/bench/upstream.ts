/**
 * The upstream of the bench, which runs in its own process: prepared answers over raw sockets. It reports its port to
 * its parent, and ends with it.
 */
import net, { type AddressInfo, type Socket } from 'node:net';
import { answerOf, type UpstreamStream } from './conversations.ts';
import {
  eventGapMs,
  MessageReader,
  plainAnswers,
  streamShape,
  uploadAnswer,
  uploadBytes,
  uploadFramingBytes,
} from './payloads.ts';

/**
 * How much of a body's beginning and end is kept for inspection. Both are needed because a gateway may have reordered
 * the fields.
 */
const keptBytes = 4096;

const lastChunk = Buffer.from('0\r\n\r\n');
const short = plainReply(200, plainAnswers.short);
const longAnswer = plainReply(200, plainAnswers['long-answer']);
const uploaded = plainReply(200, uploadAnswer);
const refused = plainReply(400, Buffer.from('{"error":{"message":"not what the bench sends"}}'));
const full = allAtOnce(chatStream('full', false));
const fullAsked = allAtOnce(chatStream('full', true));
const conversations = new Map<UpstreamStream, Buffer>();

const server = net.createServer({ noDelay: true }, serve);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());

function serve(socket: Socket): void {
  let isUpload = false;
  let startLine = '';
  let size = 0;
  let begin = '';
  let end = '';
  const reader = new MessageReader({
    onHead(head) {
      startLine = head.slice(0, head.indexOf('\r'));
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
      else answer(socket, `${startLine}${begin}${end}`);
    },
  });
  socket.on('data', (piece: Buffer) => reader.push(piece));
  // If a gateway breaks the connection, the client notices it.
  socket.on('error', () => socket.destroy());
}

function answer(socket: Socket, request: string): void {
  const conversation = answerOf(request);
  if (conversation) {
    if (conversation.pace === 'paced') pace(socket, conversation.stream);
    else socket.write(atOnce(conversation.stream));
    return;
  }
  const usageAsked = /"include_usage": ?true/.test(request);
  switch (/"user":"([\w-]+)"/.exec(request)?.[1]) {
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
      pace(socket, chatStream('paced', usageAsked));
      break;
    default:
      socket.write(refused);
  }
}

function chatStream(name: 'paced' | 'full', usageAsked: boolean): UpstreamStream {
  const { event, count, end } = streamShape(name, usageAsked);
  const events = Array.from({ length: count }, () => event);
  return { contentType: 'text/event-stream; charset=utf-8', begin: Buffer.alloc(0), events, end };
}

/** Sends the first event at once, then one per interval, and the end after the last. */
function pace(socket: Socket, { contentType, begin, events, end }: UpstreamStream): void {
  const [first = begin, ...others] = events;
  socket.write(Buffer.concat([streamHead(contentType), asChunk(Buffer.concat([begin, first]))]));
  let at = 0;
  const timer = setInterval(() => {
    const event = others[at++] ?? end;
    if (at < others.length) {
      socket.write(asChunk(event));
      return;
    }
    stop();
    socket.write(Buffer.concat([asChunk(event), asChunk(end), lastChunk]));
  }, eventGapMs);
  const stop = () => {
    clearInterval(timer);
    socket.off('close', stop);
  };
  socket.on('close', stop);
}

function atOnce(stream: UpstreamStream): Buffer {
  const known = conversations.get(stream) ?? allAtOnce(stream);
  conversations.set(stream, known);
  return known;
}

/** At full speed: the whole stream with one chunk per event, written in one piece. */
function allAtOnce({ contentType, begin, events, end }: UpstreamStream): Buffer {
  const chunks = [begin, ...events, end].filter(({ length }) => length > 0).map(asChunk);
  return Buffer.concat([streamHead(contentType), ...chunks, lastChunk]);
}

function streamHead(contentType: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
}

function asChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function plainReply(status: 200 | 400, body: Buffer): Buffer {
  const head = `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Bad Request'}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
