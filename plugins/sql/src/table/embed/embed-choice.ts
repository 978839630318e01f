import type { Context } from 'waypost'
import type { EmbedPlan, TablePlan } from '../plan.ts'
import { maxEmbeddedRows } from './embed-config.ts'

/** Returns the embeds that a request has. @throws a problem with status 403 for one that the caller may not have */
export type ChooseEmbeds = (query: unknown, context: Context) => readonly EmbedPlan[]

const none: readonly EmbedPlan[] = []

export function makeEmbedChoice({ embeds = none }: Pick<TablePlan, 'embeds'>): ChooseEmbeds {
  const always = embeds.filter((one) => one.always)
  return (query, context) => {
    const { embed } = (query ?? {}) as { readonly embed?: readonly string[] }
    const chosen = embed === undefined ? always : embeds.filter(({ name, always: is }) => is || embed.includes(name))
    for (const embed of chosen) assertMayEmbed(embed, context)
    return chosen
  }
}

/** @throws a problem with status 403 if the caller may not have the rows of an embed */
export function assertMayEmbed({ name, scopes }: EmbedPlan, context: Context): void {
  const held = context.principal?.scopes
  const isAllowed = scopes === undefined || (scopes.length === 0 ? held !== undefined : hasOne(held, scopes))
  if (!isAllowed) throw context.problem(403, `You may not read the rows of "${name}"`)
}

function hasOne(held: readonly string[] | undefined, scopes: readonly string[]): boolean {
  return held !== undefined && scopes.some((scope) => held.includes(scope))
}

/** @throws a problem with status 400 if a page of a list could embed too many rows */
export function assertFewEmbedded(embeds: readonly EmbedPlan[], limit: number, context: Context): void {
  const perRow = embeds.reduce((sum, { many }) => sum + (many?.limit ?? 0), 0)
  if (perRow * limit <= maxEmbeddedRows) return
  const most = Math.floor(maxEmbeddedRows / perRow)
  throw context.problem(400, `With these rows in "embed", "limit" must be at most ${most}`)
}
