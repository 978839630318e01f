import fc from 'fast-check'
import { isLong } from './forms.ts'

// A fixed seed, so that a run only fails because of changes; the long form uses random seeds.
if (!isLong) fc.configureGlobal({ seed: 20_261_120 })

/** Returns how many values to check a property with: `count` in the long form, a quarter of it otherwise. */
export function runs(count: number): number {
  return isLong ? count : Math.ceil(count / 4)
}

export { fc }
