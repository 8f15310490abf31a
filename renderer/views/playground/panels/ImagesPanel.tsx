import { Button, NativeSelect, Textarea } from '@mantine/core';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { CopyLine } from '../../../components/copying/CopyButton.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { listAt, parseJson, textAt } from '../../../state/calls/json-path.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { createSessionValue, useSessionFields } from '../../../state/window/session-value.ts';
import { FilePicker, PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { createExchangeStore, useExchange } from '../call/use-exchange.ts';
import classes from '../Playground.module.css';

const sizes = ['1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'];

interface MadeImage {
  /** `data:` URL, which can be shown. */
  data: string | null;
  /** An external address, which the window does not load. */
  url: string | null;
}

const session = createSessionValue<{
  prompt: string;
  size: string;
  source: File | null;
  images: MadeImage[];
}>({ prompt: '', size: '1024x1024', source: null, images: [] });
const exchangeStore = createExchangeStore();

/** Creates an image from a prompt, or edits one within a painted mask. */
export function ImagesPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice, exchangeStore);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'images');
  const [{ prompt, size, source, images }, change] = useSessionFields(session);
  // Goes when the screen is left, as what was painted does.
  const [mask, setMask] = useState<Blob | null>(null);
  const pickSource = (file: File | null) => {
    change({ source: file });
    setMask(null);
  };

  const send = async () => {
    change({ images: [] });
    const fields = { model: models.model, prompt, size };
    const reply = await runner.run(
      source
        ? { path: '/images/edits', body: editForm(fields, source, mask) }
        : { path: '/images/generations', body: fields },
    );
    change({ images: reply ? imagesOf(parseJson(reply.text)) : [] });
  };
  return (
    <PlaygroundPanel
      title={names.panels.images}
      keyChoice={keyChoice}
      models={models}
      isIncomplete={!prompt.trim()}
      onSend={() => void send()}
      lanes={[
        {
          runner,
          result:
            images.length > 0 ? (
              images.map(({ data, url }) =>
                data ? (
                  <img key={data} className={classes.made} src={data} alt={prompt} />
                ) : (
                  url && <CopyLine key={url} value={url} label={names.imageAddress} />
                ),
              )
            ) : (
              <p className={classes.empty}>{names.imagesEmpty}</p>
            ),
        },
      ]}
    >
      <Textarea
        label={names.prompt}
        value={prompt}
        onChange={(event) => change({ prompt: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={6}
      />
      <FilePicker
        label={names.chooseImage}
        accept="image/png,image/jpeg,image/webp"
        file={source}
        onPick={pickSource}
      />
      {source && <MaskEditor key={source.name + source.lastModified} source={source} onMask={setMask} />}
      <NativeSelect
        label={names.size}
        value={size}
        onChange={(event) => change({ size: event.currentTarget.value })}
        data={sizes}
      />
    </PlaygroundPanel>
  );
}

function editForm(fields: Record<string, string>, source: File, mask: Blob | null): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('image', source, source.name);
  if (mask) form.append('mask', mask, 'mask.png');
  return form;
}

function imagesOf(reply: unknown): MadeImage[] {
  const format = textAt(reply, 'output_format') ?? 'png';
  return listAt(reply, 'data').map((entry) => {
    const base64 = textAt(entry, 'b64_json');
    return { data: base64 && `data:image/${format};base64,${base64}`, url: textAt(entry, 'url') };
  });
}

interface MaskEditorProps {
  source: Blob;
  /** A PNG of the image's size, transparent where it may be changed; null for everywhere. */
  onMask(mask: Blob | null): void;
}

/** Relative to the image's width. */
const brushShare = 0.06;

/**
 * Lets the person paint over the parts of an image that may be changed. Painting erases the canvas, so its content is
 * the mask.
 */
function MaskEditor({ source, onMask }: MaskEditorProps) {
  const { playground: names } = useMessages();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [bitmap, setBitmap] = useState<ImageBitmap | null>(null);
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    createImageBitmap(source).then(
      (bitmap) => isCurrent && setBitmap(bitmap),
      // Not an image: there is nothing to paint on, and the provider will refuse the file.
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [source]);
  useEffect(() => {
    const target = canvas.current;
    if (target && bitmap) resetMask(target, bitmap);
  }, [bitmap]);

  const paint = (event: PointerEvent<HTMLCanvasElement>) => {
    if (event.buttons === 0) return;
    erase(event.currentTarget, event.nativeEvent);
    setPainted(true);
  };
  const finish = () => {
    if (isPainted) canvas.current?.toBlob(onMask, 'image/png');
  };
  const clear = () => {
    if (canvas.current && bitmap) resetMask(canvas.current, bitmap);
    setPainted(false);
    onMask(null);
  };
  if (!bitmap) return null;
  return (
    <div>
      <p className={classes.soft}>{names.maskHint}</p>
      <canvas
        ref={canvas}
        className={classes.canvas}
        width={bitmap.width}
        height={bitmap.height}
        role="img"
        aria-label={names.mask}
        onPointerDown={paint}
        onPointerMove={paint}
        onPointerUp={finish}
        onPointerLeave={finish}
      />
      {isPainted && (
        <Button size="xs" variant="default" onClick={clear}>
          {names.maskClear}
        </Button>
      )}
    </div>
  );
}

/** Restores the whole image. */
function resetMask(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  context.globalCompositeOperation = 'source-over';
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0);
}

/** Erases a circle at the pointer, where the checkered background shows through. */
function erase(canvas: HTMLCanvasElement, { offsetX, offsetY }: MouseEvent): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const scale = canvas.width / canvas.clientWidth;
  context.globalCompositeOperation = 'destination-out';
  context.beginPath();
  context.arc(offsetX * scale, offsetY * scale, (canvas.width * brushShare) / 2, 0, 2 * Math.PI);
  context.fill();
}
