import type { HostedModel } from '../../core/dialects/dialect.ts';
import { type FrameFormat, frames } from './frames.ts';

/** Unpacking for streams of these frames. The package that decodes them is loaded with the first stream. */
export function unpackingOf(format: FrameFormat): NonNullable<HostedModel['unpacking']> {
  return {
    contentType: frames,
    load: async () => {
      const { FrameUnpacker } = await import('./frame-unpacker.ts');
      return () => new FrameUnpacker(format);
    },
  };
}
