/** What standard input holds, without the line end: secrets are never arguments. */
export async function readSecret(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
