import type { JsonSchema } from '../../../src/contract/index.ts'
import { compareManifests, type Manifest, type ManifestMethod } from '../../../src/release/index.ts'
import { emptyManifest } from '../system.ts'

/** A public `POST /order` but for what is said of it, in a manifest but for what is said of that. */
export function makeManifest(method: Partial<ManifestMethod>, more: Partial<Manifest> = {}): Manifest {
  const whole: ManifestMethod = {
    method: 'POST',
    public: true,
    scopes: [],
    responses: { 200: { type: 'object' } },
    action: { artifact: 'aaaa', file: 'src/order.ts' },
    source: 'waypost.yml:3',
    ...method,
  }
  return { ...emptyManifest, routes: [{ path: '/order', methods: [whole] }], ...more }
}

export const named = (schemas: Readonly<Record<string, JsonSchema>>): Partial<Manifest> => ({ schemas })

export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
})

/** Each detail as a line: `! ` before what is breaking, and whom it breaks. */
export function tell(before: Manifest, after: Manifest): string[] {
  return compareManifests(before, after).flatMap(({ kind, name, details }) =>
    details.map(({ text, breaking, affects }) => {
      const whom = affects === undefined ? '' : ` (${affects.join(', ')})`
      return `${breaking ? '! ' : ''}${kind === 'route' ? '' : `${kind} ${name} `}${text}${whom}`
    }),
  )
}
