import { existsSync } from 'node:fs'
import path from 'node:path'

/** Returns the file of a name in a folder, or in the nearest folder above it that has one. */
export function nearestFile(folder: string, name: string): string | undefined {
  const file = path.join(folder, name)
  if (existsSync(file)) return file
  const above = path.dirname(folder)
  return above === folder ? undefined : nearestFile(above, name)
}
