#!/usr/bin/env node
// Starts Waypost from its sources: Node strips the types, so nothing has to be built.
import path from 'node:path'
import { launch } from './cli/launch.ts'

await launch(process.argv.slice(2), { root: path.dirname(import.meta.dirname), sources: true })
