export * from './access';
export * from './admission';
export * from './request';
export * from './store';
export * from './strategy';
export * from './composition';
