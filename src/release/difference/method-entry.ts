import type { JsonSchema } from '../../contract/index.ts'
import type { Manifest, ManifestMethod, ManifestRoute } from '../manifest.ts'
import type { ChangeDetail } from './change.ts'
import type { SchemaEffects } from './schema-effects.ts'

/** A method with the parts of the manifest that it depends on. */
export interface MethodEntry {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly rates: Manifest['rates']
  readonly config: Manifest['config']
}

export type Compare = (before: MethodEntry, after: MethodEntry, effects: SchemaEffects) => readonly ChangeDetail[]

export function nameMethod({ route, method }: Pick<MethodEntry, 'route' | 'method'>): string {
  return `${method.method} ${route.path}`
}

export const anyObject: JsonSchema = { type: 'object' }

/** A caller that handles an error response still works if it never gets one. */
export function isSuccess(status: string): boolean {
  return /^[23]/.test(status)
}

export function label(part: string, details: readonly ChangeDetail[]): readonly ChangeDetail[] {
  return details.map((detail) => ({ ...detail, text: `${part}: ${detail.text}` }))
}
