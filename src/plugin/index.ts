// plugin: loads and validates plugins. Depends on the contract, never on a plugin.
// May import kit and contract.
export { joinPlugins, loadPlugins, type PluginSet } from './load-plugins.ts'
export { makeConfigPreparer, type PrepareConfig, type PreparedConfig } from './prepare-config.ts'
