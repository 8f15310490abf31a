/**
 * The smallest H.264 encoder that makes a film (ITU-T H.264, constrained baseline profile). It does not compress: a
 * macroblock is either sent as it is (I_PCM) or, where nothing changed since the frame before, skipped. For a small picture
 * in which little moves that is small enough, and every decoder shows exactly what was drawn.
 */
import { BitWriter } from './bit-writer.ts';
import { gridOf, MACROBLOCK, MACROBLOCK_BYTES, type MacroblockGrid, toMacroblocks } from './macroblocks.ts';
import { nalUnit } from './nal-unit.ts';
import type { Raster } from './raster.ts';

interface EncodedFrame {
  /** One NAL unit, without length or start code. */
  nalUnit: Buffer;
  /** Whether it can be decoded without the frames before it. */
  isKey: boolean;
}

export interface EncodedFilm {
  sequenceParameters: Buffer;
  pictureParameters: Buffer;
  frames: readonly EncodedFrame[];
}

/** Profile, its constraints and level (3.0), as they stand in the parameter set and in the file's header. */
export const PROFILE_BYTES = [66, 0b1100_0000, 30] as const;

/** `nal_ref_idc` 3 and the unit's type. */
const nalHeader = { slice: 0x61, keySlice: 0x65, sequenceParameters: 0x67, pictureParameters: 0x68 } as const;
const FRAME_NUMBER_BITS = 4;
/** Slice types that hold for all slices of the picture. */
const sliceType = { predicted: 5, key: 7 } as const;
/** `mb_type` of I_PCM; in a predicted slice it counts on from that slice's own five types. */
const pcmType = { predicted: 30, key: 25 } as const;

/** Encodes frames of one size (even numbers of pixels); every `keyInterval`-th is a key frame. */
export function encodeFilm(
  rasters: Iterable<Raster>,
  size: { width: number; height: number },
  keyInterval: number,
): EncodedFilm {
  const grid = gridOf(size);
  const frames: EncodedFrame[] = [];
  let before: Uint8Array | undefined;
  for (const raster of rasters) {
    const blocks = toMacroblocks(raster);
    const position = frames.length % keyInterval;
    if (position === 0) before = undefined;
    const nalUnit = before
      ? predictedFrame(blocks, before, position % 2 ** FRAME_NUMBER_BITS)
      : keyFrame(blocks, (frames.length / keyInterval) % 2);
    frames.push({ nalUnit, isKey: !before });
    before = blocks;
  }
  return { sequenceParameters: sequenceParameters(size, grid), pictureParameters: pictureParameters(), frames };
}

function sequenceParameters(size: { width: number; height: number }, { columns, rows }: MacroblockGrid): Buffer {
  const writer = new BitWriter().append(Uint8Array.from(PROFILE_BYTES));
  writer.exponential(0); // seq_parameter_set_id
  writer.exponential(FRAME_NUMBER_BITS - 4);
  writer.exponential(2); // pic_order_cnt_type: frames are shown in the order in which they are sent
  writer.exponential(1); // max_num_ref_frames
  writer.bits(0, 1); // gaps_in_frame_num_value_allowed_flag
  writer.exponential(columns - 1).exponential(rows - 1);
  writer.bits(0b11, 2); // frame_mbs_only_flag, direct_8x8_inference_flag
  writer.bits(1, 1); // frame_cropping_flag; the crops count pairs of pixels: left, right, top, bottom
  writer.exponential(0).exponential((columns * MACROBLOCK - size.width) / 2);
  writer.exponential(0).exponential((rows * MACROBLOCK - size.height) / 2);
  writer.bits(0, 1); // vui_parameters_present_flag
  return nalUnit(nalHeader.sequenceParameters, writer.finish());
}

function pictureParameters(): Buffer {
  const writer = new BitWriter();
  writer.exponential(0).exponential(0); // pic_parameter_set_id, seq_parameter_set_id
  writer.bits(0, 2); // entropy_coding_mode_flag (CAVLC), bottom_field_pic_order_in_frame_present_flag
  writer.exponential(0).exponential(0).exponential(0); // one slice group, one reference frame in either list
  writer.bits(0, 3); // weighted_pred_flag, weighted_bipred_idc
  writer.exponential(0).exponential(0).exponential(0); // the initial quantisers and the chroma offset
  writer.bits(0b100, 3); // deblocking_filter_control_present_flag; no constrained intra, no redundant pictures
  return nalUnit(nalHeader.pictureParameters, writer.finish());
}

function keyFrame(blocks: Uint8Array, keyFrameId: number): Buffer {
  const writer = sliceHeader(sliceType.key, 0);
  writer.exponential(keyFrameId); // idr_pic_id: two key frames in a row must differ
  writer.bits(0, 2); // no_output_of_prior_pics_flag, long_term_reference_flag
  endSliceHeader(writer);
  for (let start = 0; start < blocks.length; start += MACROBLOCK_BYTES) {
    writer.exponential(pcmType.key).align();
    writer.append(blocks.subarray(start, start + MACROBLOCK_BYTES));
  }
  return nalUnit(nalHeader.keySlice, writer.finish());
}

function predictedFrame(blocks: Uint8Array, before: Uint8Array, frameNumber: number): Buffer {
  const writer = sliceHeader(sliceType.predicted, frameNumber);
  writer.bits(0, 3); // no override of the reference count, no reordering, no adaptive marking
  endSliceHeader(writer);
  let skipped = 0;
  for (let start = 0; start < blocks.length; start += MACROBLOCK_BYTES) {
    const block = blocks.subarray(start, start + MACROBLOCK_BYTES);
    if (Buffer.compare(block, before.subarray(start, start + MACROBLOCK_BYTES)) === 0) {
      skipped += 1;
      continue;
    }
    writer.exponential(skipped).exponential(pcmType.predicted).align().append(block);
    skipped = 0;
  }
  if (skipped > 0) writer.exponential(skipped);
  return nalUnit(nalHeader.slice, writer.finish());
}

function sliceHeader(type: number, frameNumber: number): BitWriter {
  const writer = new BitWriter();
  writer.exponential(0).exponential(type).exponential(0); // first_mb_in_slice, slice_type, pic_parameter_set_id
  return writer.bits(frameNumber, FRAME_NUMBER_BITS);
}

function endSliceHeader(writer: BitWriter): void {
  writer.exponential(0); // slice_qp_delta
  writer.exponential(1); // disable_deblocking_filter_idc: off, what was drawn stays sharp
}
