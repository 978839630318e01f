import type { JsonSchema } from '../../../src/contract/index.ts'
import { compareManifests, type Manifest, type ManifestMethod } from '../../../src/release/index.ts'
import { emptyManifest } from '../system.ts'

/** A manifest with a public `POST /order`, with the given changes to both. */
export function makeManifest(method: Partial<ManifestMethod>, more: Partial<Manifest> = {}): Manifest {
  const whole: ManifestMethod = {
    method: 'POST',
    public: true,
    scopes: [],
    responses: { 200: { type: 'object' } },
    action: { artifact: 'aaaa', file: 'src/order.ts' },
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

/** Returns each detail as a line: `! ` before breaking ones, and what they break. */
export function tell(before: Manifest, after: Manifest): string[] {
  return compareManifests(before, after).flatMap(({ kind, name, details }) =>
    details.map(({ text, breaking, affects }) => {
      const whom = affects === undefined ? '' : ` (${affects.join(', ')})`
      return `${breaking ? '! ' : ''}${kind === 'route' ? '' : `${kind} ${name} `}${text}${whom}`
    }),
  )
}
