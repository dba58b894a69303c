import { runMain } from '@tinkernetes/component-base';
import { component } from './index';

void runMain(component);
