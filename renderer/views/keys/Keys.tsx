import { Screen } from '../../components/Screen.tsx';
import { KeysSection } from './KeysSection.tsx';

/** Who may use Sluice. */
export function Keys() {
  return (
    <Screen name="keys">
      <KeysSection />
    </Screen>
  );
}
