/** The most expensive input that upstreams could send to the parsers of clouds' answers. */
import { claudeFrames, claudeOnBedrock } from '../../../server/apis/bedrock/provider/claude.ts';
import { FrameUnpacker } from '../../../server/apis/bedrock/provider/frame-unpacker.ts';

import { sortBetas } from '../../../server/apis/core/dialects/hosted-claude.ts';
import { modelOnVertex } from '../../../server/apis/gemini/vertex/models.ts';
import { frame } from '../../support/strict-bedrock.ts';
import type { WorstCase } from '../worst-cases.ts';

const kilobyte = 1024;
const smallFrame = frame({ type: 'ping' });

export const worstClouds: Record<string, WorstCase> = {
  'an error of a cloud': {
    atOnceBytes: 1024 * kilobyte,
    readers: ['claudeOnBedrock', 'sortBetas', 'modelOnVertex'],
    inputs: {
      'a long message': ['{"message":"', 'Invocation of model ID ', '"}'],
      'many members': ['{"message":"a"', ',"a":1', '}'],
      lists: ['[', '[', ''],
      betas: ['', 'mcp-client-', ''],
    },
    run: (bytes) => {
      const headers = { 'x-amzn-errortype': 'ValidationException' };
      claudeOnBedrock('m').errorBody(400, headers, bytes);
      modelOnVertex('claude-x').errorBody(400, {}, bytes);
      sortBetas(bytes.toString('latin1', 0, 16 * kilobyte), new Set(), 'claude-opus-4-5');
    },
  },
  'a stream of frames': {
    atOnceBytes: 64 * kilobyte,
    readers: ['FrameUnpacker', 'UnpackedStream'],
    inputs: { letters: ['\0\0', 'aaaa', ''] },
    run: (bytes) => {
      const small = Buffer.concat(
        Array.from({ length: Math.ceil(bytes.length / smallFrame.length) }, () => smallFrame),
      );
      new FrameUnpacker(claudeFrames).push(small);
      const long = new FrameUnpacker(claudeFrames);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length * 2);
      long.push(length);
      for (let at = 0; at < bytes.length; at += 64) long.push(bytes.subarray(at, at + 64));
    },
  },
};
