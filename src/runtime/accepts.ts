/** Whether the header Accept takes a content type (RFC 9110 §12.5.1): the range that names it most closely decides. */
export function accepts(header: string, type: string): boolean {
  const essence = type.split(';', 1)[0]!.trim().toLowerCase()
  let closest = { closeness: 0, isTaken: false }
  let hasRange = false
  for (const range of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (!name.includes('/')) continue
    hasRange = true
    const closeness = measure(name, essence)
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2)
    if (closeness > closest.closeness) closest = { closeness, isTaken: quality === undefined || Number(quality) !== 0 }
  }
  return !hasRange || closest.isTaken // what is no list of ranges asks for nothing
}

/** 0 where a range does not name a type. */
function measure(range: string, essence: string): number {
  if (range === essence) return 4
  if (range === 'application/json' && essence.endsWith('+json')) return 3
  if (range === `${essence.split('/', 1)[0]}/*`) return 2
  return range === '*/*' ? 1 : 0
}
