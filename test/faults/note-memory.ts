// Loaded by node before the command line: writes the most memory that the process ever had, in bytes, to a file.
import { writeFileSync } from 'node:fs'
import { readEnvironment, variable } from '../../src/kit/index.ts'

const file = variable(readEnvironment(), 'NOTE_MEMORY')
process.on('exit', () => {
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS * 1024))
})
