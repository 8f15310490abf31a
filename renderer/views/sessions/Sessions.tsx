import { useLocation } from 'wouter';
import { SessionDetail } from './SessionDetail.tsx';
import { SessionList } from './SessionList.tsx';

/** Sessions, or the one that the address names. */
export function Sessions() {
  const [path] = useLocation();
  const [, , id] = path.split('/');
  return id ? <SessionDetail key={id} id={decodeURIComponent(id)} /> : <SessionList />;
}
