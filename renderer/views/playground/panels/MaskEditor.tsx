import { Button } from '@mantine/core';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Playground.module.css';

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
export function MaskEditor({ source, onMask }: MaskEditorProps) {
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
