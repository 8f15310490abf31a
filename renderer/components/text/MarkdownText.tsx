import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './MarkdownText.module.css';
import { type MarkedPiece, markPieces } from './mark-pieces.ts';

export interface MarkdownTextProps {
  text: string;
  /** The same text, with what is to be marked. */
  pieces?: readonly MarkedPiece[] | undefined;
}

/**
 * Renders the Markdown of an answer. HTML in it is not interpreted and images are not fetched, because an answer must
 * not make the window contact an address.
 */
export default function MarkdownText({ text, pieces }: MarkdownTextProps) {
  return (
    <div className={classes.markdown}>
      <Markdown remarkPlugins={[remarkGfm]} rehypePlugins={pieces && [[markPieces, pieces]]} components={components}>
        {text}
      </Markdown>
    </div>
  );
}

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt || String(src ?? '')}
    </a>
  ),
  // A wide table scrolls by itself instead of making the page scroll.
  table: ({ children }) => (
    <div className={classes.wide}>
      <table>{children}</table>
    </div>
  ),
};
