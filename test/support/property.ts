import fc from 'fast-check'
import { isLong } from './forms.ts'

// The same values each time, so that a run fails for what was changed and not for its luck; the long form looks for
// other ones.
if (!isLong) fc.configureGlobal({ seed: 20_261_120 })

export { fc }
