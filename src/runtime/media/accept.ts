/** Returns a content type without its parameters, in lower case. */
export function essenceOf(type: string): string {
  return type.split(';', 1)[0]!.trim().toLowerCase()
}

/** Whether an Accept header allows a content type. */
export function accepts(header: string, type: string): boolean {
  return qualityOf(header, type) > 0
}

/**
 * Chooses the content type that a caller prefers; the first of equally good ones.
 * @returns undefined if the header allows none of them
 */
export function chooseType(header: string | undefined, types: readonly string[]): string | undefined {
  if (header === undefined || header === '*/*' || types.length === 0) return types[0]
  let best: { type: string; quality: number } | undefined
  for (const type of types) {
    const quality = qualityOf(header, type)
    if (quality > (best?.quality ?? 0)) best = { type, quality }
  }
  return best?.type
}

/** How much a caller prefers a content type, from 0 to 1 (RFC 9110 §12.5.1). The most specific range decides. */
function qualityOf(header: string, type: string): number {
  const essence = essenceOf(type)
  let closest = { specificity: 0, quality: 0 }
  let hasRange = false
  for (const range of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (!name.includes('/')) continue
    hasRange = true
    const specificity = specificityOf(name, essence)
    if (specificity > closest.specificity) closest = { specificity, quality: readQuality(parameters) }
  }
  return hasRange ? closest.quality : 1 // a header without ranges allows everything
}

/** What cannot be read counts as 1. */
function readQuality(parameters: readonly string[]): number {
  const text = parameters.find((one) => one.startsWith('q='))?.slice(2)
  const quality = text === undefined || text === '' ? 1 : Number(text)
  return Number.isNaN(quality) ? 1 : Math.min(Math.max(quality, 0), 1)
}

/** How specifically a range names a type; 0 if it does not match. */
function specificityOf(range: string, essence: string): number {
  if (range === essence) return 4
  if (range === 'application/json' && essence.endsWith('+json')) return 3
  if (range === `${essence.split('/', 1)[0]}/*`) return 2
  return range === '*/*' ? 1 : 0
}
