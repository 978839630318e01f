import fc from 'fast-check'
import { isLong } from './forms.ts'

// A fixed seed, so that a run only fails because of changes; the long form uses random seeds.
if (!isLong) fc.configureGlobal({ seed: 20_261_120 })

export { fc }
