import { Button } from '@mantine/core';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Playground.module.css';

interface MaskEditorProps {
  source: Blob;
  /** A PNG of the image's size, transparent where it may be changed; null: everywhere. */
  onMask(mask: Blob | null): void;
}

/** Of the image's width. */
const brushShare = 0.06;

/** Paints over an image what may be changed of it. The painting shows at once; the mask is what was left out. */
export function MaskEditor({ source, onMask }: MaskEditorProps) {
  const { playground: names } = useMessages();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [bitmap, setBitmap] = useState<ImageBitmap | null>(null);
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    let isWanted = true;
    createImageBitmap(source).then(
      (made) => isWanted && setBitmap(made),
      // A file that is no image is refused by whoever gets it; there is nothing to paint on.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [source]);
  useEffect(() => {
    const target = canvas.current;
    if (target && bitmap) wipe(target, bitmap);
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
    if (canvas.current && bitmap) wipe(canvas.current, bitmap);
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

/** The whole image, nothing painted over. */
function wipe(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  context.globalCompositeOperation = 'source-over';
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0);
}

/** A hole where the pointer is: the checkered ground shows through. */
function erase(canvas: HTMLCanvasElement, { offsetX, offsetY }: MouseEvent): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const scale = canvas.width / canvas.clientWidth;
  context.globalCompositeOperation = 'destination-out';
  context.beginPath();
  context.arc(offsetX * scale, offsetY * scale, (canvas.width * brushShare) / 2, 0, 2 * Math.PI);
  context.fill();
}
